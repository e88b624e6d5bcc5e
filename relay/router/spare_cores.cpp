// SPDX-License-Identifier: Apache-2.0
#include "router/spare_cores.hpp"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace fairlead::router {
namespace {

/// Empty where there is no such file.
std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<int> parse_num_running(std::string_view text) {
  // Three averages, then "running/all".
  std::istringstream words{std::string(text)};
  double average = 0.0;
  int running = 0;
  char slash = ' ';
  words >> average >> average >> average >> running >> slash;
  if (!words || slash != '/' || running < 1) return std::nullopt;
  return running;
}

std::optional<int> num_running() {
  return parse_num_running(text_of("/proc/loadavg"));
}

bool is_cpu_quota(std::string_view text) {
  // "max 100000" or -1 is no limit.
  return !text.empty() && !text.starts_with("max") && !text.starts_with("-1");
}

bool has_cpu_quota() {
  // Lines "0::/path" (version 2) and "N:cpu,cpuacct:/path" (version 1). In a container the paths
  // may be the host's, and its own group is then the root that it sees.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool is_version_2 = line.starts_with("0::");
    const std::filesystem::path root = is_version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    const char* file = is_version_2 ? "cpu.max" : "cpu.cfs_quota_us";
    const std::size_t begin = line.find(":/");
    if (begin == line.npos) continue;
    const auto path = std::filesystem::path(line.substr(begin + 2));
    for (std::filesystem::path group = path;; group = group.parent_path()) {
      if (is_cpu_quota(text_of(root / group / file))) return true;
      if (group.empty()) break;
    }
  }
  return false;
}

int num_own_cores() {
  cpu_set_t cores;
  if (has_cpu_quota() || sched_getaffinity(0, sizeof cores, &cores) != 0) return 0;
  return CPU_COUNT(&cores);
}

void SpareCores::look(std::optional<int> num_running, Clock::time_point now) {
  next_look_ = now + kLookInterval;
  crowded_ <<= 1U;
  crowded_[0] = !num_running || *num_running > num_cores_;
}

}  // namespace fairlead::router
