// SPDX-License-Identifier: Apache-2.0
// Reads patterns from their text; Python writes it, so error messages are short.
#include "messages/pattern.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

namespace fairlead::probe {
namespace {

/// The text up to the separator; both are removed from the rest.
std::string_view take_until(std::string_view& rest, char separator) {
  const auto end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

std::int64_t number(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument("--rehearse: expected a number in " + std::to_string(least) + ".." +
                                std::to_string(most) + ", got '" + std::string(text) + "'");
  }
  return value;
}

PatternFlow parse_flow(std::string_view text, int num_ranks) {
  const auto src = static_cast<int>(number(take_until(text, '-'), 0, num_ranks - 1));
  const auto dst = static_cast<int>(number(take_until(text, ':'), 0, num_ranks - 1));
  if (src == dst) throw std::invalid_argument("--rehearse: a host sends to itself");
  return {.src = src, .dst = dst, .bytes = number(text, 1, std::numeric_limits<int>::max())};
}

}  // namespace

std::vector<Pattern> parse_patterns(std::string_view text, int num_ranks) {
  std::vector<Pattern> patterns;
  while (!text.empty()) {
    std::string_view flows = take_until(text, '/');
    Pattern& pattern = patterns.emplace_back();
    while (!flows.empty()) pattern.push_back(parse_flow(take_until(flows, ','), num_ranks));
  }
  return patterns;
}

}  // namespace fairlead::probe
