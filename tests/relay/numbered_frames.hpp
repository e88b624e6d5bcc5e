// SPDX-License-Identifier: Apache-2.0
// Frames whose bytes show which they are.
#pragma once

#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "processes.hpp"

namespace fairlead::tests {

/// Whole segments are spliced, the last ones of messages copied; the payload shows which it is.
inline std::string numbered_frame(std::uint32_t number, std::uint32_t src_rank, std::uint16_t host,
                                  std::uint32_t dst_rank = 1) {
  relay::FrameHeader header = frame_to(dst_rank, host);
  header.src_rank = src_rank;
  header.message = number + 1;
  header.message_bytes = header.segment_bytes = number % 3 == 0 ? 100 : relay::kMaxSegmentBytes;
  const auto bytes = relay::to_bytes(header);
  std::string frame(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::uint32_t index = 0; index < header.segment_bytes; ++index) {
    frame.push_back(static_cast<char>(index * (number + 1) >> 3));
  }
  return frame;
}

/// Those of the numbers from `first` on, made before the first one is sent: a receiver that takes
/// nothing for long is dropped, and making them takes long under sanitizers.
inline std::vector<std::string> numbered_frames(std::uint32_t first, std::uint32_t count,
                                                std::uint32_t src_rank, std::uint16_t host,
                                                std::uint32_t dst_rank = 1) {
  std::vector<std::string> frames;
  for (std::uint32_t number = first; number < first + count; ++number) {
    frames.push_back(numbered_frame(number, src_rank, host, dst_rank));
  }
  return frames;
}

inline std::uint64_t message_of(const std::string& frame) {
  const auto bytes = std::as_bytes(std::span(frame)).first<relay::kFrameHeaderBytes>();
  return relay::parse_frame_header(bytes).value_or(relay::FrameHeader()).message;
}

/// Routers change the hop and the time that it was held.
template <class Socket>
bool takes(Socket& socket, const std::string& frame) {
  std::string taken(frame.size(), ' ');
  asio::read(socket, asio::buffer(taken));
  return message_of(taken) == message_of(frame) &&
         taken.substr(relay::kFrameHeaderBytes) == frame.substr(relay::kFrameHeaderBytes);
}

}  // namespace fairlead::tests
