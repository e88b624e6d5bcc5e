// SPDX-License-Identifier: Apache-2.0
// What a messenger's channel keeps for the other end.
#include <memory>
#include <vector>

#include "catch.hpp"
#include "endpoint/channel.hpp"
#include "ends.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;
using fairlead::FileDescriptor;
using fairlead::relay::Channel;
using fairlead::relay::Payload;
using relay::FrameHeader;
using relay::kMaxSegmentBytes;

namespace {

/// Two channels that have proved the key.
struct Channels {
  Channels() {
    for (int turn = 0; turn < 3; ++turn) {
      near.write();
      far.write();
      near.read(nobody);
      far.read(nobody);
    }
    REQUIRE(near.is_open());
    REQUIRE(far.is_open());
  }
  /// All that is sent until nothing more comes.
  std::vector<FrameHeader> arrived() {
    std::vector<FrameHeader> headers;
    std::size_t num_before = 0;
    do {
      num_before = headers.size();
      near.write();
      far.read([&](const FrameHeader& header, auto) { headers.push_back(header); });
    } while (near.has_to_write() || headers.size() > num_before);
    return headers;
  }

  Ends ends{false};
  Channel near = Channel::calling(FileDescriptor(dup(ends.near())), 0, some_key());
  Channel far = Channel::answering(FileDescriptor(dup(ends.far())), some_key());

 private:
  static void nobody(const FrameHeader& /*header*/, std::span<const std::byte> /*payload*/) {}
};

FrameHeader segment(std::uint64_t number, std::size_t num_segments) {
  FrameHeader header;
  header.message = 1;
  header.offset_bytes = number * kMaxSegmentBytes;
  header.message_bytes = num_segments * kMaxSegmentBytes;
  header.segment_bytes = kMaxSegmentBytes;
  return header;
}

}  // namespace

TEST_CASE("channel: a segment that is put again while it waits is sent once, with the new header") {
  // More than the sockets hold.
  constexpr std::size_t kNumSegments = 64;
  const Payload payload =
      std::make_shared<const std::vector<std::byte>>(kNumSegments * kMaxSegmentBytes);
  Channels channels;
  for (std::uint64_t number = 0; number < kNumSegments; ++number) {
    channels.near.put(segment(number, kNumSegments), payload);
  }
  channels.near.write();
  REQUIRE(channels.near.has_to_write());

  FrameHeader again = segment(kNumSegments - 1, kNumSegments);
  again.sent_us = 7;
  channels.near.put(again, payload);

  const auto headers = channels.arrived();
  REQUIRE(headers.size() == kNumSegments);
  CHECK(headers.back() == again);
}

TEST_CASE("channel: a segment that is being written is not put again") {
  const Payload payload =
      std::make_shared<const std::vector<std::byte>>(std::size_t{64} * kMaxSegmentBytes);
  Channels channels;
  std::size_t num_put = 0;
  while (!channels.near.has_to_write()) {
    channels.near.put(segment(num_put++, 64), payload);
    channels.near.write();
  }

  channels.near.put(segment(num_put - 1, 64), payload);

  CHECK(channels.arrived().size() == num_put);
}

TEST_CASE("channel: frames without a payload are all sent") {
  Channels channels;
  FrameHeader header = segment(0, 1);
  header.kind = relay::FrameKind::ack;
  for (int each = 0; each < 3; ++each) channels.near.put(header, nullptr);
  CHECK(channels.arrived().size() == 3);
}
