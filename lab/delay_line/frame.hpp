// SPDX-License-Identifier: Apache-2.0
// One Ethernet frame, and the fields that the delay line reads and writes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fairlead::delay_line {

using HardwareAddress = std::array<std::uint8_t, 6>;

/// Room for a jumbo frame of 9000 bytes with its Ethernet header.
inline constexpr std::size_t kMaxFrameBytes = 9216;

struct Frame {
  std::size_t tap;         ///< where it came from and goes back to
  std::size_t size_bytes;  ///< of `bytes`
  std::array<std::uint8_t, kMaxFrameBytes> bytes;

  [[nodiscard]] std::span<std::uint8_t> content() { return {bytes.data(), size_bytes}; }
  [[nodiscard]] std::span<const std::uint8_t> content() const { return {bytes.data(), size_bytes}; }
};

/// Source and destination of a packet, as IPv4 addresses in host byte order.
struct Ends {
  std::uint32_t src;
  std::uint32_t dst;
};

/// The ends of an IPv4 packet in an Ethernet frame (RFC 894, RFC 791 section 3.1); nothing if the
/// frame holds none.
[[nodiscard]] inline std::optional<Ends> ends_of(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kType = 12, kIp = 14, kSrc = kIp + 12, kDst = kIp + 16, kMinBytes = 34;
  if (frame.size() < kMinBytes || frame[kType] != 0x08 || frame[kType + 1] != 0x00 ||
      frame[kIp] >> 4 != 4) {
    return std::nullopt;
  }
  const auto address_at = [&frame](std::size_t at) {
    return std::uint32_t{frame[at]} << 24 | std::uint32_t{frame[at + 1]} << 16 |
           std::uint32_t{frame[at + 2]} << 8 | std::uint32_t{frame[at + 3]};
  };
  return Ends{.src = address_at(kSrc), .dst = address_at(kDst)};
}

/// @pre the frame has at least the 14 bytes of its header
inline void readdress(std::span<std::uint8_t> frame, const HardwareAddress& dst) {
  std::ranges::copy(dst, frame.begin());
}

}  // namespace fairlead::delay_line
