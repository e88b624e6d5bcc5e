// SPDX-License-Identifier: Apache-2.0
// Reads patterns; Python writes them, so error messages are short.
#include "messages/pattern.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "fairlead/error.hpp"

namespace fairlead::probe {
namespace {

PatternFlow read_flow(const json::Value& value) {
  constexpr int kMax = std::numeric_limits<int>::max();
  const std::vector<std::int64_t> numbers = value.whole_numbers(0, kMax);
  if (numbers.size() != 3 && numbers.size() != 4) {
    value.refuse("expected [src, dst, bytes] or [src, dst, bytes, 1]");
  }
  if (numbers[0] == numbers[1]) value.refuse("a host sends to itself");
  if (numbers[2] == 0) value.refuse("a message has no bytes");
  return {.src = static_cast<int>(numbers[0]),
          .dst = static_cast<int>(numbers[1]),
          .bytes = numbers[2],
          .is_seen = numbers.size() == 4 && numbers[3] != 0};
}

}  // namespace

std::vector<Pattern> read_patterns(const json::Value& value) {
  std::vector<Pattern> patterns;
  for (const json::Value& flows : value.items()) {
    Pattern& pattern = patterns.emplace_back();
    for (const json::Value& flow : flows.items()) pattern.push_back(read_flow(flow));
  }
  return patterns;
}

void require_ranks(const std::vector<Pattern>& patterns, int num_ranks) {
  for (const Pattern& pattern : patterns) {
    for (const PatternFlow& flow : pattern) {
      if (std::max(flow.src, flow.dst) < num_ranks) continue;
      throw InputError("order: patterns: there is no rank " +
                       std::to_string(std::max(flow.src, flow.dst)));
    }
  }
}

}  // namespace fairlead::probe
