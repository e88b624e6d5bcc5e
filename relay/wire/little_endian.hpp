// SPDX-License-Identifier: Apache-2.0
// Numbers on the wire, whatever the order of bytes in memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead::relay {

/// Takes numbers one after the other.
/// @pre the bytes suffice
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral Number>
  [[nodiscard]] Number number() {
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < sizeof(Number); ++index) {
      value |= std::to_integer<std::uint64_t>(rest_[index]) << (8 * index);
    }
    rest_ = rest_.subspan(sizeof(Number));
    return static_cast<Number>(value);
  }

 private:
  std::span<const std::byte> rest_;
};

/// Puts numbers one after the other.
/// @pre there is room
class Writer {
 public:
  explicit Writer(std::span<std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral Number>
  void number(Number value) {
    for (std::size_t index = 0; index < sizeof(Number); ++index) {
      rest_[index] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * index));
    }
    rest_ = rest_.subspan(sizeof(Number));
  }

 private:
  std::span<std::byte> rest_;
};

}  // namespace fairlead::relay
