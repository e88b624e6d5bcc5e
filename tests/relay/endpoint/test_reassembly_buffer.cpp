// SPDX-License-Identifier: Apache-2.0
// What a receiver makes of segments, and which numbers of messages it has taken.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "catch.hpp"
#include "endpoint/reassembly_buffer.hpp"
#include "endpoint/taken_numbers.hpp"

using namespace fairlead::relay;
using fairlead::relay::FrameHeader;
using fairlead::relay::kMaxSegmentBytes;

TEST_CASE("reassembly buffer: segments in any order, and twice, make the message once") {
  ReassemblyBuffer buffer;
  std::vector<std::byte> text(kMaxSegmentBytes + 3);
  for (std::size_t index = 0; index < text.size(); ++index) {
    text[index] = static_cast<std::byte>(index * 7);
  }
  FrameHeader header;
  header.message = 1;
  header.message_bytes = text.size();
  header.offset_bytes = kMaxSegmentBytes;
  header.segment_bytes = 3;
  CHECK(buffer.add(header, std::span(text).last(3)));
  CHECK(buffer.add(header, std::span(text).last(3)));
  CHECK_FALSE(buffer.take(0, 1));
  header.offset_bytes = 0;
  header.segment_bytes = kMaxSegmentBytes;
  CHECK(buffer.add(header, std::span(text).first(kMaxSegmentBytes)));
  const auto arrived = buffer.take(0, 1);
  REQUIRE(arrived);
  CHECK(std::equal(text.begin(), text.end(), arrived->span().begin(), arrived->span().end()));
  // A late copy is acknowledged and makes no message.
  CHECK(buffer.add(header, std::span(text).first(kMaxSegmentBytes)));
  CHECK(buffer.num_messages() == 0);
}

TEST_CASE("reassembly buffer: numbers that are never taken cost one range each") {
  TakenNumbers taken;
  for (std::uint64_t number = 1; number <= 10000; ++number) {
    if (number != 1 && number != 5000) taken.add(number);
  }
  CHECK(taken.num_ranges() == 2);
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  taken.add(kLast);
  taken.add(0);
  CHECK(taken.num_ranges() == 4);
  CHECK(taken.has(kLast));
  CHECK_FALSE(taken.has(kLast - 1));
  CHECK_FALSE(taken.has(1));
  CHECK_FALSE(taken.has(5000));
  taken.add(1);
  taken.add(5000);
  CHECK(taken.num_ranges() == 2);
}

TEST_CASE("reassembly buffer: numbers in any order are those of a set") {
  TakenNumbers taken;
  std::set<std::uint64_t> all;
  std::mt19937 random(1);
  for (int each = 0; each < 2000; ++each) {
    const std::uint64_t number = random() % 300;
    taken.add(number);
    all.insert(number);
    const std::uint64_t other = random() % 300;
    CHECK(taken.has(other) == all.contains(other));
  }
  for (std::uint64_t number = 0; number < 300; ++number) taken.add(number);
  CHECK(taken.num_ranges() == 1);
}

TEST_CASE("reassembly buffer: segments that do not fit the message are not acknowledged") {
  ReassemblyBuffer buffer;
  const std::vector<std::byte> text(100);
  FrameHeader header;
  header.message = 1;
  header.message_bytes = 200;
  header.segment_bytes = 100;
  CHECK_FALSE(buffer.add(header, text));
  header.offset_bytes = 100;
  CHECK_FALSE(buffer.add(header, text));
  header.offset_bytes = 0;
  header.message_bytes = 100;
  CHECK(buffer.add(header, text));
  header.message_bytes = kMaxSegmentBytes + 100;
  header.offset_bytes = kMaxSegmentBytes;
  CHECK_FALSE(buffer.add(header, text));
}
