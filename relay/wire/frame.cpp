// SPDX-License-Identifier: Apache-2.0
// Checks and writes headers of frames.
#include "wire/frame.hpp"

#include "wire/little_endian.hpp"

namespace fairlead::relay {
namespace {

constexpr std::uint32_t kMagic = 0x32524c46;  // "FLR2"

bool is_kind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(FrameKind::data) &&
         kind <= static_cast<std::uint8_t>(FrameKind::reject_ack);
}

// Written so that no sum can wrap.
bool is_within_message(const FrameHeader& header) {
  return header.segment_bytes <= header.message_bytes &&
         header.offset_bytes <= header.message_bytes - header.segment_bytes;
}

}  // namespace

std::optional<FrameHeader> parse_frame_header(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  Reader reader(bytes);
  if (reader.number<std::uint32_t>() != kMagic) return std::nullopt;
  FrameHeader header;
  const auto kind = reader.number<std::uint8_t>();
  header.num_hops = reader.number<std::uint8_t>();
  header.hop = reader.number<std::uint8_t>();
  header.connection = reader.number<std::uint8_t>();
  for (auto& hop : header.hops) hop = reader.number<std::uint16_t>();
  header.src_rank = reader.number<std::uint32_t>();
  header.dst_rank = reader.number<std::uint32_t>();
  header.message = reader.number<std::uint64_t>();
  header.offset_bytes = reader.number<std::uint64_t>();
  header.message_bytes = reader.number<std::uint64_t>();
  header.segment_bytes = reader.number<std::uint32_t>();
  header.sent_us = reader.number<std::uint32_t>();
  for (auto& held : header.held_16us) held = reader.number<std::uint16_t>();
  for (auto& time : header.hop_us) time = reader.number<std::uint32_t>();
  header.digest = reader.number<std::uint64_t>();

  if (!is_kind(kind) || header.connection >= kMaxConnections) return std::nullopt;
  if (header.num_hops < 1 || header.num_hops > kMaxHops) return std::nullopt;
  if (header.hop >= header.num_hops) return std::nullopt;
  if (header.segment_bytes > kMaxSegmentBytes || !is_within_message(header)) return std::nullopt;
  header.kind = static_cast<FrameKind>(kind);
  return header;
}

FrameHeaderBytes to_bytes(const FrameHeader& header) {
  FrameHeaderBytes bytes{};
  Writer writer(bytes);
  writer.number(kMagic);
  writer.number(static_cast<std::uint8_t>(header.kind));
  writer.number(header.num_hops);
  writer.number(header.hop);
  writer.number(header.connection);
  for (const auto hop : header.hops) writer.number(hop);
  writer.number(header.src_rank);
  writer.number(header.dst_rank);
  writer.number(header.message);
  writer.number(header.offset_bytes);
  writer.number(header.message_bytes);
  writer.number(header.segment_bytes);
  writer.number(header.sent_us);
  for (const auto held : header.held_16us) writer.number(held);
  for (const auto time : header.hop_us) writer.number(time);
  writer.number(header.digest);
  return bytes;
}

}  // namespace fairlead::relay
