// SPDX-License-Identifier: Apache-2.0
// Memory that a process may take, and the cgroups that limit it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace fairlead {

/// Folders of the cgroups of this process that a controller acts on, its own and those above it; of
/// version 1 and version 2. In a container, whose file system may begin at its own group, some of
/// them do not exist.
/// @param controller  "cpu" or "memory"
/// @param root  the file system's; another one in tests
[[nodiscard]] std::vector<std::filesystem::path> cgroup_folders(
    std::string_view controller, const std::filesystem::path& root = "/");

/// Bytes that can be had without swapping, and that no cgroup forbids; none where the kernel does
/// not show it. Memory with files that were not used lately counts as free.
/// @param root  as above
[[nodiscard]] std::optional<std::uint64_t> available_memory_bytes(
    const std::filesystem::path& root = "/");

}  // namespace fairlead
