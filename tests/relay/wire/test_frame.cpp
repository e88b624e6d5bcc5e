// SPDX-License-Identifier: Apache-2.0
// What is on the wire: headers of frames, and the proof of a key.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "catch.hpp"
#include "wire/frame.hpp"
#include "wire/little_endian.hpp"
#include "wire/proof.hpp"
#include "wire/rendezvous_header.hpp"

using namespace fairlead::relay;

namespace {

FrameHeader some_header() {
  FrameHeader header;
  header.num_hops = 2;
  header.hop = 1;
  header.connection = 5;
  header.hops = {7, 513, 0, 0};
  header.src_rank = 3;
  header.dst_rank = 70000;
  header.message = 0x1122334455667788;
  header.offset_bytes = 65536;
  header.message_bytes = 70000;
  header.segment_bytes = 4464;
  header.sent_us = 123456789;
  header.held_16us = {1, 65535, 0, 0};
  header.hop_us = {0x4321, 0xffffffff, 0, 7};
  header.digest = 42;
  return header;
}

Key some_key(unsigned char fill) {
  Key key;
  key.fill(static_cast<std::byte>(fill));
  return key;
}

}  // namespace

TEST_CASE("frame: a header comes back from its bytes") {
  CHECK(parse_frame_header(to_bytes(some_header())) == some_header());
}

TEST_CASE("frame: the offsets on the wire are those of the document") {
  const FrameHeaderBytes bytes = to_bytes(some_header());
  CHECK(std::memcmp(bytes.data(), "FLR2", 4) == 0);
  CHECK(bytes[7] == std::byte{5});
  CHECK(bytes[8] == std::byte{7});
  CHECK(bytes[24] == std::byte{0x88});
  CHECK(bytes[64] == std::byte{0x21});
  CHECK(bytes[68] == std::byte{0xff});
  CHECK(bytes[80] == std::byte{42});
  CHECK(bytes.size() == 88);
}

TEST_CASE("frame: a header of the version before is refused") {
  FrameHeaderBytes bytes = to_bytes(some_header());
  bytes[3] = std::byte{'1'};
  CHECK_FALSE(parse_frame_header(bytes).has_value());
}

TEST_CASE("frame: what is outside of the limits is no header") {
  const auto refused = [](auto change) {
    FrameHeader header = some_header();
    change(header);
    return !parse_frame_header(to_bytes(header)).has_value();
  };
  CHECK(refused([](FrameHeader& header) { header.num_hops = 0; }));
  CHECK(refused([](FrameHeader& header) { header.num_hops = 5; }));
  CHECK(refused([](FrameHeader& header) { header.hop = 2; }));
  CHECK(refused([](FrameHeader& header) { header.connection = kMaxConnections; }));
  CHECK(refused([](FrameHeader& header) { header.kind = static_cast<FrameKind>(0); }));
  CHECK(refused([](FrameHeader& header) { header.kind = static_cast<FrameKind>(7); }));
  CHECK(refused([](FrameHeader& header) { header.segment_bytes = kMaxSegmentBytes + 1; }));
  CHECK(refused([](FrameHeader& header) { header.message_bytes = 65536; }));
  // An offset whose sum with the segment would wrap.
  CHECK(refused([](FrameHeader& header) { header.offset_bytes = ~0ULL - 10; }));
}

TEST_CASE("frame: random bytes are never taken for a header with a payload too large") {
  std::mt19937 random(1);
  for (int round = 0; round < 100000; ++round) {
    FrameHeaderBytes bytes = to_bytes(some_header());
    for (int change = 0; change < 4; ++change) {
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    }
    const auto header = parse_frame_header(bytes);
    if (header) REQUIRE(header->payload_bytes() <= kMaxSegmentBytes);
  }
}

TEST_CASE(
    "rendezvous header: a mark, the sender, the number and the size, in little-endian order") {
  const RendezvousHeaderBytes bytes =
      to_bytes(RendezvousHeader{.src_rank = 0x01020304, .number = 5, .size_bytes = 0x0607});
  std::vector<int> values;
  for (const std::byte byte : bytes) values.push_back(std::to_integer<int>(byte));
  CHECK(values == std::vector<int>{'F', 'L', 'e', 4, 3, 2, 1, 5, 0, 0, 0, 0,
                                   0,   0,   0,   7, 6, 0, 0, 0, 0, 0, 0});
  const auto header = parse_rendezvous_header(bytes);
  REQUIRE(header);
  CHECK((header->src_rank == 0x01020304 && header->number == 5));
  CHECK(header->size_bytes == 0x0607);
}

TEST_CASE("wire: nothing is read or written behind the end") {
  std::array<std::byte, 3> bytes{};
  CHECK_THROWS_AS(Reader(bytes).number<std::uint32_t>(), std::out_of_range);
  CHECK_THROWS_AS(Writer(bytes).number(std::uint32_t{1}), std::out_of_range);
  std::array<std::byte, 4> more{};
  CHECK_THROWS_AS(Reader(bytes).bytes(more), std::out_of_range);
  CHECK_THROWS_AS(Writer(bytes).bytes(more), std::out_of_range);
  CHECK(bytes == std::array<std::byte, 3>{});
}

TEST_CASE("proof: both ends with the key agree") {
  const Key key = some_key(1);
  const HelloBytes hello = to_bytes(make_hello(Role::process, 5, key));
  const AnswerBytes answer = make_answer(hello, key);
  const auto proof = check_answer(hello, answer, key);
  REQUIRE(proof.has_value());
  CHECK(check_proof(hello, answer, *proof, key));
  CHECK(parse_hello(hello)->index == 5);
  CHECK(parse_hello(hello)->job == job_of(key));
}

TEST_CASE("proof: another key is found out at either end") {
  const Key key = some_key(1);
  const Key other = some_key(2);
  const HelloBytes hello = to_bytes(make_hello(Role::process, 5, key));
  CHECK_FALSE(check_answer(hello, make_answer(hello, other), key).has_value());
  const AnswerBytes answer = make_answer(hello, key);
  CHECK_FALSE(check_proof(hello, answer, *check_answer(hello, answer, key), other));
}

TEST_CASE("proof: the answer of an earlier connection is worth nothing") {
  const Key key = some_key(1);
  const HelloBytes first = to_bytes(make_hello(Role::process, 5, key));
  const HelloBytes second = to_bytes(make_hello(Role::process, 5, key));
  CHECK_FALSE(check_answer(second, make_answer(first, key), key).has_value());
}

TEST_CASE("digest: routers may change the hop, and nobody anything else") {
  const Key key = some_key(1);
  const std::array<std::byte, 3> payload{};
  FrameHeader header = some_header();
  const std::uint64_t digest = digest_of(header, payload, key);
  header.hop = 0;
  header.held_16us = {9, 9, 9, 9};
  header.hop_us = {9, 9, 9, 9};
  CHECK(digest_of(header, payload, key) == digest);
  header.dst_rank += 1;
  CHECK(digest_of(header, payload, key) != digest);
  const std::array<std::byte, 3> other{std::byte{1}};
  CHECK(digest_of(some_header(), other, key) != digest);
  CHECK(digest_of(some_header(), payload, some_key(2)) != digest);
}
