// SPDX-License-Identifier: Apache-2.0
// Cuts a range of indices into consecutive parts of nearly equal length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace example {

/// Half-open range of global indices.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t length() const { return end - begin; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end - begin); }
  [[nodiscard]] bool has(std::int64_t index) const { return begin <= index && index < end; }
  /// Position of a global index in an array that holds this range.
  [[nodiscard]] std::size_t local(std::int64_t index) const {
    return static_cast<std::size_t>(index - begin);
  }
};

/// Part number `part` of [0, length) cut into `num_parts`.
[[nodiscard]] inline Range part_of(std::int64_t length, int num_parts, int part) {
  return {length * part / num_parts, length * (part + 1) / num_parts};
}

/// The same with all parts of one length, except that the range may end before the last ones do.
[[nodiscard]] inline Range equal_part_of(std::int64_t length, int num_parts, int part) {
  const std::int64_t part_length = (length + num_parts - 1) / num_parts;
  return {std::min(length, part_length * part), std::min(length, part_length * (part + 1))};
}

}  // namespace example
