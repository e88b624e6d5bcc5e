// SPDX-License-Identifier: Apache-2.0
// The messages between hosts in one step of a program, for one placement of its ranks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace fairlead::probe {

/// One message of each step.
struct PatternFlow {
  int src;
  int dst;
  std::int64_t bytes;
};

/// All messages of one step.
using Pattern = std::vector<PatternFlow>;

/// @param text patterns with '/' behind each, which is a row of "src-dst:bytes" with ',' between.
/// @throws std::invalid_argument if it is not in this form, or names a rank outside 0..num_ranks -
///   1.
std::vector<Pattern> parse_patterns(std::string_view text, int num_ranks);

}  // namespace fairlead::probe
