// SPDX-License-Identifier: Apache-2.0
// What a messenger's connection keeps for the other end.
#include <memory>
#include <vector>

#include "catch.hpp"
#include "endpoint/connection.hpp"
#include "ends.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;
using fairlead::FileDescriptor;
using fairlead::relay::Connection;
using fairlead::relay::Payload;
using relay::FrameHeader;
using relay::kMaxSegmentBytes;

namespace {

/// Two connections that have proved the key.
struct Connections {
  Connections() {
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
  Connection near = Connection::calling(FileDescriptor(dup(ends.near())), 0, some_key());
  Connection far = Connection::answering(FileDescriptor(dup(ends.far())), some_key());

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

TEST_CASE(
    "connection: a segment that is put again while it waits is sent once, with the new header") {
  // More than the sockets hold.
  constexpr std::size_t kNumSegments = 64;
  const Payload payload =
      std::make_shared<const std::vector<std::byte>>(kNumSegments * kMaxSegmentBytes);
  Connections connections;
  for (std::uint64_t number = 0; number < kNumSegments; ++number) {
    connections.near.put(segment(number, kNumSegments), payload);
  }
  connections.near.write();
  REQUIRE(connections.near.has_to_write());

  FrameHeader again = segment(kNumSegments - 1, kNumSegments);
  again.sent_us = 7;
  connections.near.put(again, payload);

  const auto headers = connections.arrived();
  REQUIRE(headers.size() == kNumSegments);
  CHECK(headers.back() == again);
}

TEST_CASE("connection: a segment that is being written is not put again") {
  const Payload payload =
      std::make_shared<const std::vector<std::byte>>(std::size_t{64} * kMaxSegmentBytes);
  Connections connections;
  std::size_t num_put = 0;
  while (!connections.near.has_to_write()) {
    connections.near.put(segment(num_put++, 64), payload);
    connections.near.write();
  }

  connections.near.put(segment(num_put - 1, 64), payload);

  CHECK(connections.arrived().size() == num_put);
}

TEST_CASE("connection: frames without a payload are all sent") {
  Connections connections;
  FrameHeader header = segment(0, 1);
  header.kind = relay::FrameKind::ack;
  for (int each = 0; each < 3; ++each) connections.near.put(header, nullptr);
  CHECK(connections.arrived().size() == 3);
}
