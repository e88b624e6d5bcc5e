// SPDX-License-Identifier: Apache-2.0
// Frames that go on to the next router before all of them has come.
#include <sys/socket.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "catch.hpp"
#include "numbered_frames.hpp"
#include "processes.hpp"
#include "router/frame_queue.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;
using asio::ip::tcp;

namespace {

constexpr std::size_t kHalf = 40000;

/// A router on host 0, and the socket in which what it sends to host 1 arrives.
class ToNextHost {
 public:
  ToNextHost() : acceptor_(context, {asio::ip::address_v4::loopback(), 0}), socket_(context) {
    router.add({.key = some_key(),
                .host = 0,
                .peers = {{"127.0.0.1", router.port()},
                          {"127.0.0.1", acceptor_.local_endpoint().port()}}});
    // So that frames end in the middle of what it takes at once.
    acceptor_.set_option(asio::socket_base::receive_buffer_size(16384));
    // Before the connection is there, frames wait for it as a whole.
    Local::socket first = process(7);
    asio::write(first, asio::buffer(numbered_frame(0, 7, 1)));
    socket_ = acceptor_.accept();
    relay::HelloBytes hello;
    asio::read(socket_, asio::buffer(hello));
    const auto answer = relay::make_answer(hello, some_key());
    asio::write(socket_, asio::buffer(answer));
    relay::Proof proof;
    asio::read(socket_, asio::buffer(proof));
    REQUIRE(takes(socket_, numbered_frame(0, 7, 1)));
  }
  ~ToNextHost() {
    router.stop();
    std::filesystem::remove_all(folder_);
  }

  Local::socket process(std::uint32_t rank) { return known(router, rank, 0); }
  tcp::socket& socket() { return socket_; }

 private:
  std::string folder_ = make_folder();

 public:
  RunningRouter router{folder_};

 private:
  tcp::acceptor acceptor_;
  tcp::socket socket_;
};

void write_part(Local::socket& socket, const std::string& frame, std::size_t from, std::size_t to) {
  asio::write(socket, asio::buffer(frame.data() + from, to - from));
}

}  // namespace

TEST_CASE("router: a frame goes on before all of it has come") {
  ToNextHost next;
  Local::socket src = next.process(0);
  const std::string frame = numbered_frame(1, 0, 1);

  write_part(src, frame, 0, kHalf);
  std::string taken(relay::kFrameHeaderBytes + router::Payload::kMinSplicedBytes, ' ');
  asio::read(next.socket(), asio::buffer(taken));
  write_part(src, frame, kHalf, frame.size());
  std::string rest(frame.size() - taken.size(), ' ');
  asio::read(next.socket(), asio::buffer(rest));

  CHECK((taken + rest).substr(relay::kFrameHeaderBytes) == frame.substr(relay::kFrameHeaderBytes));
}

TEST_CASE("router: frames that come together go on in order, and the next one while it arrives") {
  ToNextHost next;
  Local::socket src = next.process(0);
  const std::vector<std::string> frames = numbered_frames(1, 2, 0, 1);
  const std::string last = numbered_frame(4, 0, 1);

  asio::write(src, asio::buffer(frames[0] + frames[1]));
  CHECK(takes(next.socket(), frames[0]));
  CHECK(takes(next.socket(), frames[1]));
  write_part(src, last, 0, kHalf);
  std::string taken(relay::kFrameHeaderBytes, ' ');
  asio::read(next.socket(), asio::buffer(taken));
  write_part(src, last, kHalf, last.size());
  std::string rest(last.size() - taken.size(), ' ');
  asio::read(next.socket(), asio::buffer(rest));

  CHECK(rest == last.substr(taken.size()));
}

TEST_CASE("router: frames of others follow one that goes on while it arrives") {
  ToNextHost next;
  Local::socket src = next.process(0);
  Local::socket other = next.process(2);
  const std::string frame = numbered_frame(1, 0, 1);

  write_part(src, frame, 0, kHalf);
  std::string taken(relay::kFrameHeaderBytes, ' ');
  asio::read(next.socket(), asio::buffer(taken));
  asio::write(other, asio::buffer(numbered_frame(2, 2, 1)));
  REQUIRE(happens([&] { return next.router.counters().forwarded_frames == 2; }));
  write_part(src, frame, kHalf, frame.size());
  std::string rest(frame.size() - taken.size(), ' ');
  asio::read(next.socket(), asio::buffer(rest));

  CHECK(rest == frame.substr(taken.size()));
  CHECK(takes(next.socket(), numbered_frame(2, 2, 1)));
}

TEST_CASE(
    "router: a frame whose sender ends in its middle has zeros at its end, and harms no other") {
  ToNextHost next;
  Local::socket other = next.process(2);
  const std::string frame = numbered_frame(1, 0, 1);
  std::string taken(frame.size(), 'x');
  {
    Local::socket src = next.process(0);
    write_part(src, frame, 0, kHalf);
    asio::read(next.socket(), asio::buffer(taken.data(), relay::kFrameHeaderBytes));
  }

  asio::read(next.socket(), asio::buffer(taken) + relay::kFrameHeaderBytes);
  asio::write(other, asio::buffer(numbered_frame(2, 2, 1)));

  CHECK(taken.substr(relay::kFrameHeaderBytes, kHalf - relay::kFrameHeaderBytes) ==
        frame.substr(relay::kFrameHeaderBytes, kHalf - relay::kFrameHeaderBytes));
  CHECK(taken.substr(kHalf) == std::string(frame.size() - kHalf, '\0'));
  CHECK(takes(next.socket(), numbered_frame(2, 2, 1)));
}

TEST_CASE("router: who stops in the middle of a frame holds up others for a short time") {
  ToNextHost next;
  Local::socket src = next.process(0);
  Local::socket other = next.process(2);
  const std::string frame = numbered_frame(1, 0, 1);

  write_part(src, frame, 0, kHalf);
  std::string taken(frame.size(), 'x');
  asio::read(next.socket(), asio::buffer(taken.data(), relay::kFrameHeaderBytes));
  asio::write(other, asio::buffer(numbered_frame(2, 2, 1)));
  asio::read(next.socket(), asio::buffer(taken) + relay::kFrameHeaderBytes);

  CHECK(takes(next.socket(), numbered_frame(2, 2, 1)));
  CHECK(drops(next.router, router::Drop::stalled) == 1);
}

TEST_CASE("router: what the next host does not take at once of a frame goes before all others") {
  ToNextHost next;
  Local::socket src = next.process(0);
  // More than sockets hold, and less than makes a queue full. None of them is small, since behind
  // one that waits others would wait, too.
  std::vector<std::string> frames = numbered_frames(1, 90, 0, 1);
  std::erase_if(frames,
                [](const std::string& frame) { return frame.size() < relay::kMaxSegmentBytes; });
  REQUIRE(frames.size() * frames[0].size() < router::FrameQueue::kMaxBytes);
  for (const std::string& frame : frames) asio::write(src, asio::buffer(frame));
  REQUIRE(happens([&] { return next.router.counters().forwarded_frames == 1 + frames.size(); }));

  CHECK(std::ranges::all_of(frames,
                            [&](const std::string& frame) { return takes(next.socket(), frame); }));
}

TEST_CASE("router: a frame to a process waits until all of it has come") {
  Network network(1);
  Local::socket src = known(network.router(0), 0, 0);
  Local::socket other = known(network.router(0), 2, 0);
  Local::socket dst = known(network.router(0), 1, 0);
  write_part(src, numbered_frame(1, 0, 0), 0, kHalf);
  asio::write(other, asio::buffer(numbered_frame(2, 2, 0)));
  CHECK(takes(dst, numbered_frame(2, 2, 0)));
}
