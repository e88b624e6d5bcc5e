// SPDX-License-Identifier: Apache-2.0
// Reads cpu.stat of the process's cgroups.
#include "hosts/throttling.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include "fairlead/host/memory.hpp"

namespace fairlead::probe {
namespace {

std::int64_t num_throttled(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.stat");
  std::string name;
  std::int64_t number = 0;
  while (file >> name >> number) {
    if (name == "nr_throttled") return number;
  }
  return 0;
}

}  // namespace

std::int64_t num_throttled_periods() {
  std::int64_t total = 0;
  for (const std::filesystem::path& group : cgroup_folders("cpu")) total += num_throttled(group);
  return total;
}

}  // namespace fairlead::probe
