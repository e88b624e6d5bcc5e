// SPDX-License-Identifier: Apache-2.0
// What a router does with those who do not keep to the rules, and what it tells of itself.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "fairlead/error.hpp"
#include "frame_queue.hpp"
#include "options.hpp"
#include "routers.hpp"

using namespace fairlead;
using fairlead::tests::Network;
using fairlead::tests::RunningRouter;
using fairlead::tests::some_key;
using Local = asio::local::stream_protocol;

namespace {

asio::io_context context;

Local::socket local_call(RunningRouter& router) {
  Local::socket socket(context);
  socket.connect(Local::endpoint(router.socket()));
  return socket;
}

// A process that has proved the key.
Local::socket greeted(RunningRouter& router, std::uint32_t rank, const relay::Key& key) {
  Local::socket socket = local_call(router);
  const auto hello = relay::to_bytes(relay::make_hello(relay::Role::process, rank, key));
  asio::write(socket, asio::buffer(hello));
  relay::AnswerBytes answer;
  asio::read(socket, asio::buffer(answer));
  const auto proof = relay::check_answer(hello, answer, key);
  REQUIRE(proof.has_value());
  asio::write(socket, asio::buffer(*proof));
  return socket;
}

template <class Socket>
bool ends(Socket& socket) {
  std::array<std::byte, 256> bytes;
  asio::error_code ended;
  while (!ended) socket.read_some(asio::buffer(bytes), ended);
  return true;
}

relay::FrameHeader frame_to(std::uint32_t rank, std::uint16_t host) {
  relay::FrameHeader header;
  header.hops[0] = host;
  header.dst_rank = rank;
  header.message = 1;
  header.message_bytes = 3;
  header.segment_bytes = 3;
  return header;
}

// Sends a frame to itself and waits for it.
bool reaches_itself(Local::socket& socket, std::uint32_t rank, std::uint16_t host) {
  relay::FrameHeader to_itself = frame_to(rank, host);
  to_itself.src_rank = rank;
  asio::write(socket, asio::buffer(relay::to_bytes(to_itself)));
  asio::write(socket, asio::buffer("xyz", 3));
  std::array<std::byte, relay::kFrameHeaderBytes + 3> bytes;
  return asio::read(socket, asio::buffer(bytes)) == bytes.size();
}

int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(socket, level, name, &value, &size) == 0);
  return value;
}

template <class Claim>
bool happens(const Claim& claim) {
  for (int round = 0; round < 3000; ++round) {
    if (claim()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::uint64_t drops(RunningRouter& router, router::Drop reason) {
  return router.counters().drops[static_cast<std::size_t>(reason)];
}

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

TEST_CASE("router: garbage instead of a greeting ends the connection") {
  Network network(1);
  Local::socket local = local_call(network.router(0));
  asio::write(local, asio::buffer(std::string(200, 'x')));
  CHECK(ends(local));
  asio::ip::tcp::socket remote(context);
  remote.connect({asio::ip::make_address("127.0.0.1"), network.router(0).port()});
  asio::write(remote,
              asio::buffer(std::string("GET / HTTP/1.1\r\nHost: somewhere\r\nmore\r\n\r\n")));
  CHECK(ends(remote));
  CHECK(drops(network.router(0), router::Drop::bad_greeting) == 2);
}

TEST_CASE("router: who does not know the key is turned away before a frame is read") {
  Network network(1);
  Local::socket socket = local_call(network.router(0));
  // The job's number is known to all who have seen it; its key is not.
  relay::Hello hello = relay::make_hello(relay::Role::process, 0, some_key());
  asio::write(socket, asio::buffer(relay::to_bytes(hello)));
  relay::AnswerBytes answer;
  asio::read(socket, asio::buffer(answer));
  asio::write(socket, asio::buffer(relay::Proof{}));
  CHECK(ends(socket));
  CHECK(drops(network.router(0), router::Drop::wrong_key) == 1);
}

TEST_CASE("router: an unknown job gets no answer") {
  Network network(1);
  Local::socket socket = local_call(network.router(0));
  const relay::Hello hello = relay::make_hello(relay::Role::process, 0, some_key(9));
  asio::write(socket, asio::buffer(relay::to_bytes(hello)));
  CHECK(ends(socket));
}

TEST_CASE("router: who says nothing is dropped after a while") {
  Network network(1);
  Local::socket socket = local_call(network.router(0));
  const auto start = std::chrono::steady_clock::now();
  CHECK(ends(socket));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("router: only so many ends without a proof are kept") {
  Network network(1);
  std::vector<Local::socket> silent;
  for (std::size_t end = 0; end < router::Router::kMaxGreetings + 2; ++end) {
    silent.push_back(local_call(network.router(0)));
  }
  CHECK(happens([&] { return drops(network.router(0), router::Drop::too_many_connections) == 2; }));
}

TEST_CASE("router: a frame reaches a process on the same host") {
  Network network(1);
  Local::socket first = greeted(network.router(0), 0, some_key());
  Local::socket second = greeted(network.router(0), 1, some_key());
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

TEST_CASE("router: jobs are kept apart") {
  Network network(1);
  network.admit(some_key(2));
  Local::socket ours = greeted(network.router(0), 0, some_key());
  Local::socket theirs = greeted(network.router(0), 1, some_key(2));
  // Rank 1 is a process of the other job only.
  asio::write(ours, asio::buffer(relay::to_bytes(frame_to(1, 0))));
  asio::write(ours, asio::buffer("xyz", 3));
  CHECK(happens([&] { return drops(network.router(0), router::Drop::unreachable) == 1; }));
}

TEST_CASE("router: a process cannot send under another's rank") {
  Network network(1);
  Local::socket socket = greeted(network.router(0), 5, some_key());
  asio::write(socket, asio::buffer(relay::to_bytes(frame_to(1, 0))));
  asio::write(socket, asio::buffer("xyz", 3));
  CHECK(ends(socket));
  CHECK(drops(network.router(0), router::Drop::bad_frame) == 1);
}

TEST_CASE("router: bytes that are no frame end the connection of one process only") {
  Network network(1);
  Local::socket bad = greeted(network.router(0), 0, some_key());
  Local::socket good = greeted(network.router(0), 1, some_key());
  asio::write(bad, asio::buffer(std::string(1000, 'x')));
  CHECK(ends(bad));
  CHECK(reaches_itself(good, 1, 0));
}

TEST_CASE("router: who takes nothing holds up its sender, and no other process") {
  Network network(2);
  Local::socket socket = greeted(network.router(0), 0, some_key());
  Local::socket lazy = greeted(network.router(0), 1, some_key());
  Local::socket good = greeted(network.router(0), 2, some_key());
  Flood flood(socket, 1);
  CHECK(happens([&] { return flood.pauses(network.router(0)); }));
  CHECK(flood.sent_bytes() < (32U << 20));
  CHECK(reaches_itself(good, 2, 0));
  // In the end it is dropped.
  CHECK(happens([&] { return drops(network.router(0), router::Drop::stalled) == 1; }));
}

TEST_CASE("router: who takes a little at a time is not one who takes nothing") {
  Network network(1);
  Local::socket socket = greeted(network.router(0), 0, some_key());
  Local::socket slow = greeted(network.router(0), 1, some_key());
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

TEST_CASE("router: frames to one that takes nothing do not hold up those behind them") {
  Network network(1);
  Local::socket socket = greeted(network.router(0), 0, some_key());
  Local::socket lazy = greeted(network.router(0), 1, some_key());
  Local::socket good = greeted(network.router(0), 2, some_key());
  Flood flood(socket, 1);
  REQUIRE(happens([&] { return flood.pauses(network.router(0)); }));
  flood.end();
  asio::write(socket, asio::buffer(relay::to_bytes(frame_to(2, 0))));
  asio::write(socket, asio::buffer("xyz", 3));
  std::array<std::byte, relay::kFrameHeaderBytes + 3> bytes;
  CHECK(asio::read(good, asio::buffer(bytes)) == bytes.size());
  CHECK(drops(network.router(0), router::Drop::no_room) > 0);
  // Not because that one had been dropped.
  CHECK(drops(network.router(0), router::Drop::stalled) == 0);
}

TEST_CASE("router: a frame knows which part of what is ahead of it others have sent") {
  asio::io_context own_context;
  router::FrameQueue queue(own_context.get_executor());
  std::vector<router::Frame> frames;
  const auto take = [&] {
    asio::co_spawn(own_context, queue.take(),
                   [&](const std::exception_ptr&, auto taken) { frames = std::move(taken); });
    own_context.restart();
    own_context.run();
  };
  const auto push = [&](std::uint32_t rank) {
    relay::FrameHeader header = frame_to(9, 1);
    header.src_rank = rank;
    queue.push({.header = header, .payload = {}, .arrived = {}});
  };
  for (const std::uint32_t rank : {0U, 1U, 1U, 0U}) push(rank);
  take();
  REQUIRE(frames.size() == 4);
  CHECK(frames[0].others_ratio == 0.0);
  CHECK(frames[1].others_ratio == 1.0);
  CHECK(frames[3].others_ratio == Approx(2.0 / 3.0));
  // What was taken is being sent until the next is asked for.
  push(1);
  take();
  CHECK(frames.at(0).others_ratio == 0.5);
  push(0);
  take();
  CHECK(frames.at(0).others_ratio == 1.0);
}

namespace {

// Whole segments are spliced, the last ones of messages copied; the payload tells which it is.
std::string numbered_frame(std::uint32_t number, std::uint32_t src_rank, std::uint16_t host,
                           std::uint32_t dst_rank = 1) {
  relay::FrameHeader header = frame_to(dst_rank, host);
  header.src_rank = src_rank;
  header.message = number + 1;
  header.message_bytes = header.segment_bytes = number % 3 == 0 ? 100 : relay::kMaxSegmentBytes;
  const auto bytes = relay::to_bytes(header);
  std::string frame(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::uint32_t index = 0; index < header.segment_bytes; ++index) {
    frame.push_back(static_cast<char>(index * (number + 1) >> 3));
  }
  return frame;
}

std::uint64_t message_of(const std::string& frame) {
  const auto bytes = std::as_bytes(std::span(frame)).first<relay::kFrameHeaderBytes>();
  return relay::parse_frame_header(bytes).value_or(relay::FrameHeader()).message;
}

// Routers change the hop and the time that it was held.
template <class Socket>
bool takes(Socket& socket, const std::string& frame) {
  std::string taken(frame.size(), ' ');
  asio::read(socket, asio::buffer(taken));
  return message_of(taken) == message_of(frame) &&
         taken.substr(relay::kFrameHeaderBytes) == frame.substr(relay::kFrameHeaderBytes);
}

// A process that the router knows, since its own frame to itself has come.
Local::socket known(RunningRouter& router, std::uint32_t rank, std::uint16_t host) {
  Local::socket socket = greeted(router, rank, some_key());
  REQUIRE(reaches_itself(socket, rank, host));
  return socket;
}

}  // namespace

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
  for (std::uint32_t number = 0; number < kNumFrames; ++number) {
    for (const std::uint32_t rank : {1U, 2U}) {
      asio::write(src, asio::buffer(numbered_frame(number, 0, 1, rank)));
    }
  }
  // With those of the receivers to themselves.
  REQUIRE(
      happens([&] { return network.router(1).counters().delivered_frames == 2 + 2 * kNumFrames; }));
  for (Local::socket& receiver : receivers) {
    std::uint32_t num_right = 0;
    while (num_right < kNumFrames && takes(receiver, numbered_frame(num_right, 0, 1))) ++num_right;
    CHECK(num_right == kNumFrames);
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

TEST_CASE("router: the counters are text for Prometheus") {
  Network network(1);
  Local::socket socket(context);
  socket.connect(Local::endpoint(network.router(0).metrics()));
  asio::write(socket, asio::buffer(std::string("GET /metrics HTTP/1.0\r\n\r\n")));
  std::string text;
  asio::error_code ended;
  asio::read(socket, asio::dynamic_buffer(text), ended);
  CHECK(text.find("HTTP/1.0 200 OK") == 0);
  CHECK(text.find("\nfairlead_router_jobs 1\n") != text.npos);
  CHECK(text.find("fairlead_router_drops_total{reason=\"stalled\"} 0\n") != text.npos);
}

TEST_CASE("router: a line that describes no job is refused, and its key not repeated") {
  const std::string key(64, 'a');
  const std::string good =
      R"({"key": ")" + key + R"(", "host": 1, "peers": [["::1", 1], ["::1", 2]]})";
  CHECK(router::parse_job(good).peers[1].port == 2);
  CHECK(router::parse_job(good).key[31] == std::byte{0xaa});
  for (const std::string& bad :
       {std::string("no JSON"), std::string("[]"), R"({"key": ")" + key + R"(z"})",
        R"({"key": ")" + key + R"(", "host": 2, "peers": [["::1", 1], ["::1", 2]]})",
        R"({"key": ")" + key + R"(", "host": 0, "peers": [["::1", 70000]]})"}) {
    try {
      (void)router::parse_job(bad);
      FAIL("taken: " << bad);
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find(key) == std::string::npos);
    }
  }
}

TEST_CASE("router: addresses of options") {
  const auto parsed = [](std::string listen) {
    std::string name = "router";
    std::string option = "--listen";
    std::string folder_option = "--folder";
    std::string folder = "/tmp/x";
    char* argv[] = {name.data(), option.data(), listen.data(), folder_option.data(), folder.data()};
    return router::parse_options(5, argv);
  };
  CHECK(parsed("10.0.0.1:4000").port == 4000);
  CHECK(parsed("10.0.0.1").address == "10.0.0.1");
  CHECK(parsed("[::1]:80").address == "::1");
  CHECK(parsed("::1").address == "::1");
  CHECK_THROWS_AS(parsed("10.0.0.1:x"), InputError);
}

TEST_CASE("router: a connection between routers that is dead ends") {
  Network network(2);
  Local::socket socket = greeted(network.router(0), 0, some_key());
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
