// SPDX-License-Identifier: Apache-2.0
// Frames arrive whole and in order, also when others end in the middle of one.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstddef>
#include <string>

#include "catch.hpp"
#include "numbered_frames.hpp"
#include "processes.hpp"
#include "router/frame_queue.hpp"
#include "router/pipe_pool.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;

namespace {

int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(socket, level, name, &value, &size) == 0);
  return value;
}

}  // namespace

TEST_CASE("router: a frame reaches a process on the same host") {
  Network network(1);
  Local::socket first = shake_hands(network.router(0), 0, some_key());
  Local::socket second = shake_hands(network.router(0), 1, some_key());
  // Known when its own frame, to nobody, has been dropped.
  relay::FrameHeader probe = frame_to(7, 0);
  probe.src_rank = 1;
  asio::write(second, asio::buffer(relay::to_bytes(probe)));
  asio::write(second, asio::buffer("abc", 3));
  REQUIRE(happens([&] { return drops(network.router(0), router::Drop::unreachable) == 1; }));
  asio::write(first, asio::buffer(relay::to_bytes(frame_to(1, 0))));
  asio::write(first, asio::buffer("xyz", 3));
  relay::FrameHeaderBytes bytes;
  asio::read(second, asio::buffer(bytes));
  std::string text(3, ' ');
  asio::read(second, asio::buffer(text));
  CHECK(relay::parse_frame_header(bytes)->dst_rank == 1);
  CHECK(text == "xyz");
}

TEST_CASE("router: frames in long queues stay whole and in order") {
  Network network(2);
  Local::socket src = known(network.router(0), 0, 0);
  std::array<Local::socket, 2> receivers{known(network.router(1), 1, 1),
                                         known(network.router(1), 2, 1)};
  // No queue is full, and both together have more segments than there are pipes.
  constexpr std::uint32_t kNumFrames = 80;
  static_assert(std::size_t{kNumFrames} * relay::kMaxSegmentBytes * 2 / 3 <
                router::FrameQueue::kMaxBytes);
  static_assert(kNumFrames * 2 * 2 / 3 > router::Pipes::kMaxPayloads);
  const std::array frames{numbered_frames(0, kNumFrames, 0, 1, 1),
                          numbered_frames(0, kNumFrames, 0, 1, 2)};
  for (std::uint32_t number = 0; number < kNumFrames; ++number) {
    for (const auto& each : frames) asio::write(src, asio::buffer(each[number]));
  }
  // With those of the receivers to themselves.
  REQUIRE(
      happens([&] { return network.router(1).counters().delivered_frames == 2 + 2 * kNumFrames; }));
  for (std::size_t index = 0; index < receivers.size(); ++index) {
    CHECK(std::ranges::all_of(
        frames[index], [&](const std::string& frame) { return takes(receivers[index], frame); }));
  }
}

TEST_CASE("router: a sender that ends in the middle of a frame harms no other frame") {
  Network network(1);
  Local::socket dst = known(network.router(0), 1, 0);
  {
    Local::socket src = known(network.router(0), 0, 0);
    asio::write(src, asio::buffer(numbered_frame(1, 0, 0).substr(0, 40000)));
  }
  Local::socket other = known(network.router(0), 2, 0);
  asio::write(other, asio::buffer(numbered_frame(2, 2, 0)));
  CHECK(takes(dst, numbered_frame(2, 2, 0)));
}

TEST_CASE("router: a receiver that ends in the middle of a frame leaves nothing of it") {
  Network network(1);
  Local::socket src = known(network.router(0), 0, 0);
  {
    Local::socket dst = known(network.router(0), 1, 0);
    // More than sockets hold, so that some frames are in pipes and one is written in part.
    for (std::uint32_t number = 0; number < 15; ++number) {
      asio::write(src, asio::buffer(numbered_frame(number, 0, 0)));
    }
    REQUIRE(happens([&] { return network.router(0).counters().delivered_frames == 2 + 15; }));
    std::array<std::byte, 1000> bytes;
    asio::read(dst, asio::buffer(bytes));
  }
  Local::socket dst = known(network.router(0), 1, 0);
  for (std::uint32_t number = 15; number < 18; ++number) {
    asio::write(src, asio::buffer(numbered_frame(number, 0, 0)));
  }
  for (std::uint32_t number = 15; number < 18; ++number) {
    CHECK(takes(dst, numbered_frame(number, 0, 0)));
  }
}

TEST_CASE("router: when the system has no pipes frames are copied") {
  Network network(1);
  Local::socket src = known(network.router(0), 0, 0);
  Local::socket dst = known(network.router(0), 1, 0);
  rlimit former{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &former) == 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = former.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::uint32_t num_right = 0;
  for (; num_right < 5; ++num_right) {
    asio::write(src, asio::buffer(numbered_frame(num_right, 0, 0)));
    if (!takes(dst, numbered_frame(num_right, 0, 0))) break;
  }
  REQUIRE(setrlimit(RLIMIT_NOFILE, &former) == 0);
  CHECK(num_right == 5);
}

TEST_CASE("router: a connection between routers that is dead ends") {
  Network network(2);
  Local::socket socket = shake_hands(network.router(0), 0, some_key());
  asio::write(socket, asio::buffer(relay::to_bytes(frame_to(1, 1))));
  asio::write(socket, asio::buffer("xyz", 3));
  REQUIRE(happens([&] { return drops(network.router(1), router::Drop::unreachable) == 1; }));
  // Both ends are of this process.
  int num_ends = 0;
  for (int each = 0; each < 1024; ++each) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const bool is_connected = getpeername(each, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
    if (!is_connected || peer.ss_family != AF_INET) continue;
    ++num_ends;
    CHECK(option(each, IPPROTO_TCP, TCP_USER_TIMEOUT) > 0);
    CHECK(option(each, SOL_SOCKET, SO_KEEPALIVE) == 1);
  }
  CHECK(num_ends == 2);
}
