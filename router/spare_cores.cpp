// SPDX-License-Identifier: Apache-2.0
#include "spare_cores.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace fairlead::router {

std::optional<int> parse_num_running(std::string_view text) {
  // Three averages, then "running/all".
  std::istringstream words{std::string(text)};
  double average = 0.0;
  int running = 0;
  char slash = ' ';
  words >> average >> average >> average >> running >> slash;
  if (!words || slash != '/') return std::nullopt;
  return running;
}

std::optional<int> num_running() {
  std::ifstream file("/proc/loadavg");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parse_num_running(text);
}

void SpareCores::look(std::optional<int> num_running, Clock::time_point now) {
  next_look_ = now + kLookInterval;
  crowded_ <<= 1U;
  crowded_[0] = !num_running || *num_running > num_cores_;
}

}  // namespace fairlead::router
