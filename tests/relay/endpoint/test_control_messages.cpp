// SPDX-License-Identifier: Apache-2.0
// Matches and rejections until there is an ack, with a clock of the test's own.
#include <vector>

#include "catch.hpp"
#include "endpoint/control_messages.hpp"
#include "send_buffers.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using fairlead::relay::FrameHeader;
using fairlead::relay::FrameKind;

namespace {

FrameHeader ack(const FrameHeader& message) {
  FrameHeader header = message;
  std::swap(header.src_rank, header.dst_rank);
  header.kind = ack_of(message.kind);
  return header;
}

}  // namespace

TEST_CASE("control messages: each path has its turn until there is an ack") {
  ControlMessages messages(config(1e9, 1e9));
  messages.add(1, 7, FrameKind::match);
  Time now = kStart;
  std::vector<ControlMessage> sent;
  for (int turn = 0; turn < 4; ++turn, now += ControlMessages::kRepeatTime) {
    const auto due = messages.due(now);
    REQUIRE(due.size() == 1);
    CHECK(messages.due(now + ControlMessages::kRepeatTime / 2).empty());
    sent.push_back(due.front());
  }
  CHECK(sent[0].header.hops[0] == 1);
  CHECK_FALSE(sent[0].bypasses_routers);
  CHECK(sent[1].bypasses_routers);
  CHECK(sent[2].header.num_hops == 2);
  CHECK(sent[2].header.hops[0] == 2);
  CHECK(sent[2].header.hops[1] == 1);
  CHECK(sent[3].header == sent[0].header);
  messages.end(ack(sent[0].header));
  CHECK(messages.is_empty());
}

TEST_CASE("control messages: the ack of a match ends no rejection of the same message") {
  ControlMessages messages(config(1e9, 1e9));
  messages.add(1, 7, FrameKind::match);
  const auto match = messages.due(kStart);
  messages.add(1, 7, FrameKind::reject);
  messages.end(ack(match.at(0).header));
  const auto due = messages.due(kStart);
  REQUIRE(due.size() == 1);
  CHECK(due[0].header.kind == FrameKind::reject);
}

TEST_CASE("control messages: the same one is on its way once, and may come again after its ack") {
  ControlMessages messages(config(1e9, 1e9));
  messages.add(1, 7, FrameKind::match);
  messages.add(1, 7, FrameKind::match);
  const auto due = messages.due(kStart);
  REQUIRE(due.size() == 1);
  messages.end(ack(due[0].header));
  messages.add(1, 7, FrameKind::match);
  CHECK(messages.due(kStart).size() == 1);
}
