// SPDX-License-Identifier: Apache-2.0
// The messages between hosts in one step of a program, for one placement of its ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "json/value.hpp"

namespace fairlead::probe {

/// One message of each step.
struct PatternFlow {
  int src;
  int dst;
  std::int64_t bytes;
  /// Sent by calls that a preloaded library sees, as the program's own are.
  bool is_seen = false;
};

/// All messages of one step.
using Pattern = std::vector<PatternFlow>;

/// @param value a list of patterns, each a list of [src, dst, bytes], with a 1 at the end where a
/// preloaded library sees the message.
/// @throws InputError naming the message that is not in this form.
std::vector<Pattern> read_patterns(const json::Value& value);

/// @throws InputError if a rank is outside 0..num_ranks - 1.
void require_ranks(const std::vector<Pattern>& patterns, int num_ranks);

}  // namespace fairlead::probe
