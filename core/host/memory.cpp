// SPDX-License-Identifier: Apache-2.0
// Reads /proc/meminfo, /proc/self/cgroup, and the files of the groups.
#include "fairlead/host/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace fairlead {
namespace {

using std::filesystem::path;

/// The number after a word of a file of words and numbers; none where it is not there.
std::optional<std::uint64_t> number_after(const path& name, const std::string& word) {
  std::ifstream file(name);
  std::string found;
  while (file >> found) {
    std::uint64_t number = 0;
    if (found == word && file >> number) return number;
  }
  return std::nullopt;
}

/// The number that a file consists of; none where it is "max", or there is no such file.
std::optional<std::uint64_t> number_in(const path& name) {
  std::ifstream file(name);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

/// The path in a line of /proc/self/cgroup if it is about this controller: ID:CONTROLLERS:PATH,
/// where version 2 has no controllers.
std::string path_of(const std::string& line, std::string_view controller) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (second == std::string::npos) return {};
  std::string controllers = ",", wanted = ",";
  controllers.append(line, first + 1, second - first - 1).push_back(',');
  wanted.append(controller).push_back(',');
  const bool is_of_it = controllers == ",," || controllers.find(wanted) != std::string::npos;
  return is_of_it ? line.substr(second + 1) : std::string();
}

/// What a group's limit leaves; none where it has no limit.
std::optional<std::uint64_t> left_bytes(const path& group, const char* limit, const char* usage,
                                        const char* idle_files) {
  const auto limit_bytes = number_in(group / limit), usage_bytes = number_in(group / usage);
  if (!limit_bytes || !usage_bytes) return std::nullopt;
  const std::uint64_t idle_bytes = number_after(group / "memory.stat", idle_files).value_or(0);
  const std::uint64_t used_bytes = *usage_bytes - std::min(*usage_bytes, idle_bytes);
  return *limit_bytes - std::min(*limit_bytes, used_bytes);
}

}  // namespace

std::vector<path> cgroup_folders(std::string_view controller, const path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::vector<path> folders;
  const path mount = root / "sys/fs/cgroup";
  for (std::string line; std::getline(file, line);) {
    const path own = path_of(line, controller);
    if (own.empty()) continue;
    for (const path& hierarchy : {mount, mount / controller}) {
      for (path group = own; group.has_relative_path(); group = group.parent_path()) {
        folders.push_back(hierarchy / group.relative_path());
      }
      folders.push_back(hierarchy);
    }
  }
  return folders;
}

std::optional<std::uint64_t> available_memory_bytes(const path& root) {
  constexpr std::uint64_t kBytesOfUnit = 1024;  // meminfo's kB
  const auto of_machine = number_after(root / "proc/meminfo", "MemAvailable:");
  if (!of_machine) return std::nullopt;
  std::uint64_t bytes = *of_machine * kBytesOfUnit;
  for (const path& group : cgroup_folders("memory", root)) {
    for (const auto& left : {left_bytes(group, "memory.max", "memory.current", "inactive_file"),
                             left_bytes(group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                        "total_inactive_file")}) {
      if (left) bytes = std::min(bytes, *left);
    }
  }
  return bytes;
}

}  // namespace fairlead
