// SPDX-License-Identifier: Apache-2.0
// The result as JSON, a document a line.
#include "result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace fairlead::tune {

void print_result(const ComparisonResult& result) {
  // Fields keep their order: by the first, the format, Python finds a document in what is printed.
  const nlohmann::ordered_json document = {{"format", "fairlead-tuning"},
                                           {"version", 1},
                                           {"num_calls", result.num_calls},
                                           {"is_right", result.is_right},
                                           {"rounds_s", result.rounds_s}};
  const std::string text = document.dump() + "\n";
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!is_written || std::fflush(stdout) != 0) {
    throw std::runtime_error(std::string("the result cannot be printed: ") + std::strerror(errno));
  }
}

}  // namespace fairlead::tune
