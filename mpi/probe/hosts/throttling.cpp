// SPDX-License-Identifier: Apache-2.0
// Reads cpu.stat of the process's cgroups.
#include "hosts/throttling.hpp"

#include <filesystem>
#include <fstream>
#include <string>

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

/// The path of a line of /proc/self/cgroup if it is about processor time: ID:CONTROLLERS:PATH,
/// where version 2 has no controllers.
std::string path_of(const std::string& line) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (second == std::string::npos) return {};
  const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const bool is_about_time = controllers == ",," || controllers.find(",cpu,") != std::string::npos;
  return is_about_time ? line.substr(second + 1) : std::string();
}

}  // namespace

std::int64_t num_throttled_periods() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  std::int64_t total = 0;
  while (std::getline(file, line)) {
    const std::filesystem::path path = path_of(line);
    if (path.empty()) continue;
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/cpu"}) {
      // In a container the file system may begin at the own group.
      for (auto group = path; group.has_relative_path(); group = group.parent_path()) {
        total += num_throttled(root / group.relative_path());
      }
      total += num_throttled(root);
    }
  }
  return total;
}

}  // namespace fairlead::probe
