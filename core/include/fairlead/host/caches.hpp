// SPDX-License-Identifier: Apache-2.0
// Sizes of caches, as the kernel shows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace fairlead {

/// Bytes of all levels of data caches together.
struct CacheBytes {
  std::uint64_t of_one_cpu;   ///< that one CPU reaches, shared ones whole; the largest of all CPUs
  std::uint64_t of_all_cpus;  ///< of all CPUs together, shared ones once
};

/// Caches of these CPUs; none where the kernel does not show those of each.
/// sysconf(_SC_LEVEL3_CACHE_SIZE) is not asked: in virtual machines it was the size of a whole
/// package's, of which the machine has a part.
/// @param cpus  at least one
/// @param folder  another one in tests. Source: Documentation/ABI/testing/sysfs-devices-system-cpu.
[[nodiscard]] std::optional<CacheBytes> read_caches(
    std::span<const int> cpus, const std::filesystem::path& folder = "/sys/devices/system/cpu");

}  // namespace fairlead
