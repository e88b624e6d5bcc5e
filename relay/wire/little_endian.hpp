// SPDX-License-Identifier: Apache-2.0
// Numbers on the wire, whatever the order of bytes in memory.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace fairlead::relay {
namespace detail {

/// Removes the next bytes from the rest and returns them. @throws std::out_of_range  too few are
/// left
template <class Byte>
[[nodiscard]] std::span<Byte> take(std::span<Byte>& rest, std::size_t num_bytes) {
  if (num_bytes > rest.size()) throw std::out_of_range("fewer bytes than the format has");
  const std::span<Byte> taken = rest.first(num_bytes);
  rest = rest.subspan(num_bytes);
  return taken;
}

}  // namespace detail

/// Reads numbers and bytes one after the other. Each function throws std::out_of_range where too
/// few bytes are left.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral Number>
  [[nodiscard]] Number number() {
    const auto bytes = detail::take(rest_, sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < sizeof(Number); ++index) {
      value |= std::to_integer<std::uint64_t>(bytes[index]) << (8 * index);
    }
    return static_cast<Number>(value);
  }

  /// @param to  all of it is filled
  void bytes(std::span<std::byte> to) {
    const auto from = detail::take(rest_, to.size());
    std::copy(from.begin(), from.end(), to.begin());
  }

 private:
  std::span<const std::byte> rest_;
};

/// Writes numbers and bytes one after the other. Each function throws std::out_of_range where too
/// little space is left.
class Writer {
 public:
  explicit Writer(std::span<std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral Number>
  void number(Number value) {
    const auto bytes = detail::take(rest_, sizeof(Number));
    for (std::size_t index = 0; index < sizeof(Number); ++index) {
      bytes[index] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * index));
    }
  }

  void bytes(std::span<const std::byte> from) {
    const auto to = detail::take(rest_, from.size());
    std::copy(from.begin(), from.end(), to.begin());
  }

 private:
  std::span<std::byte> rest_;
};

}  // namespace fairlead::relay
