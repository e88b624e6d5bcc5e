// SPDX-License-Identifier: Apache-2.0
// Frames that wait for an end which takes few of them, or none.
#include <array>
#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "processes.hpp"
#include "router/frame_queue.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;

namespace {

// Frames to one process, without an end.
class Flood {
 public:
  Flood(Local::socket& socket, std::uint32_t rank) : socket_(socket) {
    relay::FrameHeader header = frame_to(rank, 0);
    header.message_bytes = header.segment_bytes = relay::kMaxSegmentBytes;
    const auto start = relay::to_bytes(header);
    frame_.assign(reinterpret_cast<const char*>(start.data()), start.size());
    frame_.append(relay::kMaxSegmentBytes, 'x');
  }

  [[nodiscard]] std::size_t sent_bytes() const { return sent_bytes_; }
  /// Sends as much as is taken. Whether the router has stopped to read.
  bool pauses(RunningRouter& router) {
    socket_.non_blocking(true);
    asio::error_code full;
    while (!full && sent_bytes_ < (64U << 20)) sent_bytes_ += socket_.write_some(rest(), full);
    return router.counters().pauses > 0;
  }
  /// Sends the rest of a frame.
  void end() {
    socket_.non_blocking(false);
    if (sent_bytes_ % frame_.size() != 0) asio::write(socket_, rest());
  }

 private:
  [[nodiscard]] asio::const_buffer rest() const {
    const std::size_t offset = sent_bytes_ % frame_.size();
    return asio::buffer(frame_.data() + offset, frame_.size() - offset);
  }

  Local::socket& socket_;
  std::string frame_;
  std::size_t sent_bytes_ = 0;
};

}  // namespace

TEST_CASE("router: who takes nothing holds up its sender, and no other process") {
  Network network(2);
  Local::socket socket = shake_hands(network.router(0), 0, some_key());
  Local::socket lazy = shake_hands(network.router(0), 1, some_key());
  Local::socket good = shake_hands(network.router(0), 2, some_key());
  Flood flood(socket, 1);
  CHECK(happens([&] { return flood.pauses(network.router(0)); }));
  CHECK(flood.sent_bytes() < (32U << 20));
  CHECK(reaches_itself(good, 2, 0));
  // In the end it is dropped.
  CHECK(happens([&] { return drops(network.router(0), router::Drop::stalled) == 1; }));
}

TEST_CASE("router: who takes a little at a time is not one who takes nothing") {
  Network network(1);
  Local::socket socket = shake_hands(network.router(0), 0, some_key());
  Local::socket slow = shake_hands(network.router(0), 1, some_key());
  Flood flood(socket, 1);
  REQUIRE(happens([&] { return flood.pauses(network.router(0)); }));

  // Much longer than another end may take nothing, and less than frames that are sent together.
  std::array<std::byte, 65536> bytes{};
  std::size_t taken_bytes = 0;
  for (int second = 0; second < router::kStallTime.count() + 3; ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    taken_bytes += asio::read(slow, asio::buffer(bytes));
  }

  CHECK(taken_bytes < (std::size_t{1} << 20U));
  CHECK(drops(network.router(0), router::Drop::stalled) == 0);
}

TEST_CASE("router: who takes a little at a time loses nothing of a full queue") {
  Network network(1);
  Local::socket socket = shake_hands(network.router(0), 0, some_key());
  Local::socket slow = shake_hands(network.router(0), 1, some_key());
  Flood flood(socket, 1);
  REQUIRE(happens([&] { return flood.pauses(network.router(0)); }));

  // Several times as long as a full queue waits for one who takes nothing, and less than frames
  // that are sent together.
  constexpr std::chrono::milliseconds kStep{100};
  constexpr int kNumSteps = 3 * router::FrameQueue::kStallTime / kStep;
  std::array<std::byte, 32768> bytes{};
  std::size_t taken_bytes = 0;
  for (int step = 0; step < kNumSteps; ++step) {
    std::this_thread::sleep_for(kStep);
    CHECK(flood.pauses(network.router(0)));
    taken_bytes += asio::read(slow, asio::buffer(bytes));
  }

  CHECK(taken_bytes < (std::size_t{1} << 20U));
  CHECK(drops(network.router(0), router::Drop::queue_full) == 0);
}

TEST_CASE("router: frames to one that takes nothing do not hold up those behind them") {
  Network network(1);
  Local::socket socket = shake_hands(network.router(0), 0, some_key());
  Local::socket lazy = shake_hands(network.router(0), 1, some_key());
  Local::socket good = shake_hands(network.router(0), 2, some_key());
  Flood flood(socket, 1);
  REQUIRE(happens([&] { return flood.pauses(network.router(0)); }));
  flood.end();
  asio::write(socket, asio::buffer(relay::to_bytes(frame_to(2, 0))));
  asio::write(socket, asio::buffer("xyz", 3));
  std::array<std::byte, relay::kFrameHeaderBytes + 3> bytes;
  CHECK(asio::read(good, asio::buffer(bytes)) == bytes.size());
  CHECK(drops(network.router(0), router::Drop::queue_full) > 0);
  // Not because that one had been dropped.
  CHECK(drops(network.router(0), router::Drop::stalled) == 0);
}

namespace {

/// A queue, and what was taken of it.
class TakenQueue {
 public:
  TakenQueue() : queue(context_.get_executor()) {}

  void push(std::uint32_t rank) {
    queue.push({.header = header_of(rank), .payload = {}, .arrived = {}});
    advance();
  }
  /// Takes what is there, or what comes next.
  void take() {
    asio::co_spawn(context_, queue.take(),
                   [this](const std::exception_ptr&, auto taken) { frames = std::move(taken); });
    advance();
  }
  void advance() {
    context_.restart();
    context_.poll();
  }
  static relay::FrameHeader header_of(std::uint32_t rank) {
    relay::FrameHeader header = frame_to(9, 1);
    header.src_rank = rank;
    return header;
  }

 private:
  asio::io_context context_;

 public:
  router::FrameQueue queue;
  std::vector<router::Frame> frames;
};

}  // namespace

TEST_CASE("queue: a frame knows which part of what is ahead of it others have sent") {
  TakenQueue taken;
  for (const std::uint32_t rank : {0U, 1U, 1U, 0U}) taken.push(rank);
  taken.take();
  REQUIRE(taken.frames.size() == 4);
  CHECK(taken.frames[0].others_ratio == 0.0);
  CHECK(taken.frames[1].others_ratio == 1.0);
  CHECK(taken.frames[3].others_ratio == Approx(2.0 / 3.0));
  // What was taken is being sent until the next is asked for.
  taken.push(1);
  taken.take();
  CHECK(taken.frames.at(0).others_ratio == 0.5);
  taken.push(0);
  taken.take();
  CHECK(taken.frames.at(0).others_ratio == 1.0);
}

TEST_CASE("queue: while it is held frames wait, behind the one for which it is held") {
  TakenQueue taken;
  CHECK_FALSE(taken.queue.is_idle());
  taken.take();
  REQUIRE(taken.queue.is_idle());

  const relay::FrameHeader header = TakenQueue::header_of(0);
  taken.queue.hold(header);
  CHECK_FALSE(taken.queue.is_idle());
  taken.push(1);
  CHECK(taken.frames.empty());
  taken.queue.release(
      router::Frame{.header = header, .payload = {}, .arrived = {}, .begun_bytes = 5});
  taken.advance();

  REQUIRE(taken.frames.size() == 2);
  CHECK(taken.frames[0].begun_bytes == 5);
  CHECK(taken.frames[1].others_ratio == 1.0);
}

TEST_CASE("queue: what it was held for is no longer ahead of frames that come later") {
  TakenQueue taken;
  taken.take();
  taken.queue.hold(TakenQueue::header_of(0));
  taken.queue.release(std::nullopt);
  taken.push(1);
  REQUIRE(taken.frames.size() == 1);
  CHECK(taken.frames[0].others_ratio == 0.0);
}
