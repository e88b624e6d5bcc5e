// SPDX-License-Identifier: Apache-2.0
// Which processes run under one kernel, and which on one host under several names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>

#include "fairlead/node_name.hpp"

namespace fairlead {

/// Number of the kernel's start; empty where it cannot be read. Equal for processes under one
/// kernel, also in different containers or network namespaces.
[[nodiscard]] inline std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

/// Equal for processes that share kernel, network and name: two names of one host. 0 is unknown.
[[nodiscard]] inline std::uint64_t host_identity() {
  std::error_code problem;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", problem);
  const std::string boot = boot_id();
  if (boot.empty() || problem) return 0;
  return std::hash<std::string>{}(boot + " " + network.string() + " " + node_name());
}

}  // namespace fairlead
