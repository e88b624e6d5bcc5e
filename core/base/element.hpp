// SPDX-License-Identifier: Apache-2.0
// Elements of a vector by the signed numbers that tasks and hosts have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fairlead {

template <typename Value>
[[nodiscard]] Value& at(std::vector<Value>& values, std::int32_t index) {
  return values[static_cast<std::size_t>(index)];
}
template <typename Value>
[[nodiscard]] const Value& at(const std::vector<Value>& values, std::int32_t index) {
  return values[static_cast<std::size_t>(index)];
}

}  // namespace fairlead
