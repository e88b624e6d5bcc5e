// SPDX-License-Identifier: Apache-2.0
// Which messages count as the same communication.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>

namespace fairlead::relay {

/// Messages to one rank whose sizes in bytes have the same number of binary digits.
struct MessageClass {
  std::uint32_t dst_rank = 0;
  std::uint8_t size_class = 0;

  [[nodiscard]] static MessageClass of(std::uint32_t dst_rank, std::uint64_t bytes) {
    return {dst_rank, static_cast<std::uint8_t>(std::bit_width(bytes))};
  }
  friend auto operator<=>(const MessageClass&, const MessageClass&) = default;
};

}  // namespace fairlead::relay
