// SPDX-License-Identifier: Apache-2.0
// Reads the schedules that the benchmarks write.
#include <fstream>
#include <iterator>
#include <string>

#include "collectives.hpp"
#include "schedule_json.hpp"

namespace bench {

Schedules schedules_in(const std::string& path) {
  std::ifstream file(path);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  const fairlead::json::Document document(path, content);
  Schedules result;
  for (const fairlead::json::Value& schedule : document.root().items()) {
    result.push_back(fairlead::collectives::read_schedule(schedule));
  }
  return result;
}

}  // namespace bench
