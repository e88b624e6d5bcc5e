// SPDX-License-Identifier: Apache-2.0
// Claims and refusals until there is an ack, with a clock of the test's own.
#include <vector>

#include "catch.hpp"
#include "endpoint/notices.hpp"
#include "outboxes.hpp"

using namespace fairlead::relay;
using namespace fairlead::tests;
using fairlead::relay::FrameHeader;
using fairlead::relay::FrameKind;

namespace {

FrameHeader ack(const FrameHeader& notice) {
  FrameHeader header = notice;
  std::swap(header.src_rank, header.dst_rank);
  header.kind = ack_of(notice.kind);
  return header;
}

}  // namespace

TEST_CASE("notices: each path has its turn until there is an ack") {
  Notices notices(config(1e9, 1e9));
  notices.add(1, 7, FrameKind::claim);
  Time now = kStart;
  std::vector<Notice> sent;
  for (int turn = 0; turn < 4; ++turn, now += Notices::kRepeatTime) {
    const auto due = notices.due(now);
    REQUIRE(due.size() == 1);
    CHECK(notices.due(now + Notices::kRepeatTime / 2).empty());
    sent.push_back(due.front());
  }
  CHECK(sent[0].header.hops[0] == 1);
  CHECK_FALSE(sent[0].bypasses_routers);
  CHECK(sent[1].bypasses_routers);
  CHECK(sent[2].header.num_hops == 2);
  CHECK(sent[2].header.hops[0] == 2);
  CHECK(sent[2].header.hops[1] == 1);
  CHECK(sent[3].header == sent[0].header);
  notices.end(ack(sent[0].header));
  CHECK(notices.is_empty());
}

TEST_CASE("notices: the ack of a claim ends no refusal of the same message") {
  Notices notices(config(1e9, 1e9));
  notices.add(1, 7, FrameKind::claim);
  const auto claim = notices.due(kStart);
  notices.add(1, 7, FrameKind::refusal);
  notices.end(ack(claim.at(0).header));
  const auto due = notices.due(kStart);
  REQUIRE(due.size() == 1);
  CHECK(due[0].header.kind == FrameKind::refusal);
}

TEST_CASE("notices: the same one is on its way once, and may come again after its ack") {
  Notices notices(config(1e9, 1e9));
  notices.add(1, 7, FrameKind::claim);
  notices.add(1, 7, FrameKind::claim);
  const auto due = notices.due(kStart);
  REQUIRE(due.size() == 1);
  notices.end(ack(due[0].header));
  notices.add(1, 7, FrameKind::claim);
  CHECK(notices.due(kStart).size() == 1);
}
