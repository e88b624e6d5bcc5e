// SPDX-License-Identifier: Apache-2.0
// What each hop took, as acks bring it back: by hand, and by routers.
#include "wire/hop_times.hpp"

#include <array>
#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "catch.hpp"
#include "processes.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;
using fairlead::relay::FrameHeader;
using fairlead::relay::FrameKind;

namespace {

// A process's frame by host 2 to host 1.
FrameHeader relayed_frame() {
  FrameHeader header = frame_to(1, 1);
  header.num_hops = 2;
  header.hops = {2, 1};
  return header;
}

// As the receiver makes it.
FrameHeader answer_to(FrameHeader header) {
  header.kind = FrameKind::ack;
  std::swap(header.src_rank, header.dst_rank);
  header.hop = 0;
  header.hops = {2, 0};
  return header;
}

FrameHeader read_header(Local::socket& socket, std::size_t payload_bytes) {
  relay::FrameHeaderBytes bytes;
  asio::read(socket, asio::buffer(bytes));
  std::string payload(payload_bytes, ' ');
  asio::read(socket, asio::buffer(payload));
  const auto header = relay::parse_frame_header(bytes);
  REQUIRE(header);
  return *header;
}

}  // namespace

TEST_CASE("hop times: those of two hops are right, whatever the clocks of the routers are") {
  // The frame is at the first router 10 us after it was sent, 300 us later at the second one, and
  // 1000 us later at the receiver. The ack takes 40 us, 20 us and 5 us back.
  constexpr std::uint32_t kFirstClock = 1000000;
  constexpr std::uint32_t kSecondClock = 0xffffff00;  // It passes zero meanwhile.
  FrameHeader header = relayed_frame();
  relay::stamp_departure(header, kFirstClock + 10);
  header.hop = 1;
  relay::stamp_departure(header, kSecondClock + 310);
  FrameHeader answer = answer_to(header);
  relay::note_return(answer, kSecondClock + 1350);
  answer.hop = 1;
  relay::note_return(answer, kFirstClock + 1370);

  const auto hops_s = relay::seconds_of_hops(answer, 1375e-6);
  REQUIRE(hops_s);
  REQUIRE(hops_s->size() == 2);
  // 10 + 300 and back 20 + 5; then 1000 and back 40.
  CHECK((*hops_s)[0] == Approx(335e-6));
  CHECK((*hops_s)[1] == Approx(1040e-6));
}

TEST_CASE("hop times: without those of all routers there are none") {
  FrameHeader answer = answer_to(relayed_frame());
  answer.hop_us = {500, 0, 0, 0};
  CHECK_FALSE(relay::seconds_of_hops(answer, 1e-3));
  // One that no router has taken off its clock.
  answer.hop_us = {500, 4000000000, 0, 0};
  CHECK_FALSE(relay::seconds_of_hops(answer, 1e-3));
  answer.hop_us = {500, 200, 0, 0};
  CHECK(relay::seconds_of_hops(answer, 1e-3));
}

TEST_CASE("router: an ack brings back what each hop of its frame took") {
  Network network(3);
  Local::socket src = known(network.router(0), 0, 0);
  Local::socket dst = known(network.router(1), 1, 1);
  const auto start = std::chrono::steady_clock::now();
  asio::write(src, asio::buffer(relay::to_bytes(relayed_frame())));
  asio::write(src, asio::buffer("xyz", 3));
  const FrameHeader arrived = read_header(dst, 3);
  // The receiver takes this time, which counts with the last hop.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  asio::write(dst, asio::buffer(relay::to_bytes(answer_to(arrived))));
  const FrameHeader answer = read_header(src, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

  CHECK(arrived.hop_us[0] != 0);
  CHECK(arrived.hop_us[1] != 0);
  const auto hops_s = relay::seconds_of_hops(answer, took.count());
  REQUIRE(hops_s);
  CHECK((*hops_s)[1] >= 0.05);
  CHECK((*hops_s)[0] + (*hops_s)[1] == Approx(took.count()));
}
