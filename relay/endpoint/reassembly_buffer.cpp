// SPDX-License-Identifier: Apache-2.0
// Puts messages together.
#include "endpoint/reassembly_buffer.hpp"

#include <algorithm>

namespace fairlead::relay {
namespace {

// Every segment but the last is of the full size.
bool is_whole_segment(const FrameHeader& header) {
  if (header.offset_bytes % kMaxSegmentBytes != 0) return false;
  const std::uint64_t rest = header.message_bytes - header.offset_bytes;
  return header.segment_bytes > 0 &&
         header.segment_bytes == std::min<std::uint64_t>(rest, kMaxSegmentBytes);
}

}  // namespace

bool ReassemblyBuffer::is_taken(const Key& key) const {
  const auto found = taken_of_rank_.find(key.first);
  return found != taken_of_rank_.end() && found->second.has(key.second);
}

bool ReassemblyBuffer::add(const FrameHeader& header, std::span<const std::byte> payload) {
  if (!is_whole_segment(header)) return false;
  const Key key{header.src_rank, header.message};
  if (is_taken(key)) return true;
  const auto [found, is_first] = messages_.try_emplace(key);
  Message& message = found->second;
  if (is_first) {
    message.content.size_bytes = header.message_bytes;
    message.content.bytes = std::make_unique_for_overwrite<std::byte[]>(header.message_bytes);
    message.num_missing =
        static_cast<std::size_t>((header.message_bytes + kMaxSegmentBytes - 1) / kMaxSegmentBytes);
    message.has_segment.assign(message.num_missing, false);
  }
  if (message.content.size_bytes != header.message_bytes) return false;
  const auto segment = static_cast<std::size_t>(header.offset_bytes / kMaxSegmentBytes);
  if (message.has_segment[segment]) return true;
  std::copy(payload.begin(), payload.end(), message.content.bytes.get() + header.offset_bytes);
  message.has_segment[segment] = true;
  --message.num_missing;
  return true;
}

bool ReassemblyBuffer::is_complete(std::uint32_t src_rank, std::uint64_t message) const {
  const auto found = messages_.find({src_rank, message});
  return found != messages_.end() && found->second.num_missing == 0;
}

std::optional<Arrived> ReassemblyBuffer::take(std::uint32_t src_rank, std::uint64_t message) {
  const auto found = messages_.find({src_rank, message});
  if (found == messages_.end() || found->second.num_missing != 0) return std::nullopt;
  Arrived arrived = std::move(found->second.content);
  messages_.erase(found);
  taken_of_rank_[src_rank].add(message);
  return arrived;
}

void ReassemblyBuffer::reject(std::uint32_t src_rank, std::uint64_t message) {
  messages_.erase({src_rank, message});
  taken_of_rank_[src_rank].add(message);
}

}  // namespace fairlead::relay
