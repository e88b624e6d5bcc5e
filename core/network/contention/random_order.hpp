// SPDX-License-Identifier: Apache-2.0
// Random choices that are the same on every platform, which std::shuffle does not guarantee.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace fairlead {

class RandomOrder {
 public:
  explicit RandomOrder(std::uint64_t seed) : engine_(seed) {}

  /// A number in [0, size). The bias of the remainder is below 2^-32 for sizes that fit 32 bits.
  [[nodiscard]] std::size_t below(std::size_t size) {
    return static_cast<std::size_t>(engine_() % size);
  }

  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fairlead
