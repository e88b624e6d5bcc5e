// SPDX-License-Identifier: Apache-2.0
// The unit in which routers forward: a header with the whole path, and a segment of a message
// (docs/design/relay-frames.md). Parsing is a pure function of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace fairlead::relay {

inline constexpr std::size_t kMaxHops = 4;
/// Connections between two routers for each hop. Clouds limit the rate of one connection, to a
/// fifth or a tenth of an interface.
inline constexpr std::uint8_t kMaxConnections = 8;
inline constexpr std::size_t kFrameHeaderBytes = 88;
/// Large enough that headers and system calls cost little, small enough to keep several hops busy.
inline constexpr std::uint32_t kMaxSegmentBytes = 64 * 1024;

enum class FrameKind : std::uint8_t {
  data = 1,
  /// The receiver has this segment. No payload, as in all types below.
  ack = 2,
  /// The receiver has matched the message: all of it may be sent.
  match = 3,
  /// The receiver will not take the message.
  reject = 4,
  /// The sender has received the match or the rejection.
  match_ack = 5,
  reject_ack = 6,
};

/// Numbers are little-endian on the wire, at the offsets of docs/design/relay-frames.md.
struct FrameHeader {
  FrameKind kind = FrameKind::data;
  std::uint8_t num_hops = 1;
  /// Index in `hops` of the router that comes next.
  std::uint8_t hop = 0;
  /// Which of the connections between routers it takes, below kMaxConnections.
  std::uint8_t connection = 0;
  /// Routers after the sender's own one, by the index of their host; the last one delivers.
  std::array<std::uint16_t, kMaxHops> hops{};
  std::uint32_t src_rank = 0;
  std::uint32_t dst_rank = 0;
  /// Number of the message at its sender, from 1.
  std::uint64_t message = 0;
  std::uint64_t offset_bytes = 0;
  std::uint64_t message_bytes = 0;
  std::uint32_t segment_bytes = 0;
  /// The sender's clock, which an ack returns.
  std::uint32_t sent_us = 0;
  /// How long the frame waited before each hop because of frames of other processes, in units of 16
  /// microseconds, at most 65535; acks return it.
  std::array<std::uint16_t, kMaxHops> held_16us{};
  /// In data frames: the clock of the router before each hop when the frame reached that router, in
  /// microseconds, modulo 2^32. In acks: the time from then until the ack reached that router. So
  /// clocks of different hosts are never compared (hop_times.hpp).
  std::array<std::uint32_t, kMaxHops> hop_us{};
  /// Digest of the fields that no router changes, of the payload, and of a key of the job.
  std::uint64_t digest = 0;

  [[nodiscard]] std::uint32_t payload_bytes() const {
    return kind == FrameKind::data ? segment_bytes : 0;
  }

  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

using FrameHeaderBytes = std::array<std::byte, kFrameHeaderBytes>;

/// @return nothing if the bytes are no header, or if a field is outside its limits
[[nodiscard]] std::optional<FrameHeader> parse_frame_header(
    std::span<const std::byte, kFrameHeaderBytes> bytes);

[[nodiscard]] FrameHeaderBytes to_bytes(const FrameHeader& header);

}  // namespace fairlead::relay
