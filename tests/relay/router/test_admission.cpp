// SPDX-License-Identifier: Apache-2.0
// Who may speak with a router, and what becomes of the others.
#include <sys/resource.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "numbered_frames.hpp"
#include "processes.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;

namespace {

constexpr std::size_t kMaxHandshakes = router::Router::kMaxHandshakes;

template <class Socket>
bool ends(Socket& socket) {
  std::array<std::byte, 256> bytes;
  asio::error_code ended;
  while (!ended) socket.read_some(asio::buffer(bytes), ended);
  return true;
}

asio::ip::tcp::socket remote_call(std::uint16_t port, const std::string& from) {
  asio::ip::tcp::socket socket(context, {asio::ip::make_address(from), 0});
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  return socket;
}

std::vector<asio::ip::tcp::socket> silent_callers(std::uint16_t port, std::size_t number) {
  std::vector<asio::ip::tcp::socket> silent;
  while (silent.size() < number) silent.push_back(remote_call(port, "127.0.0.1"));
  return silent;
}

// Calls all the time and says nothing.
class Flood {
 public:
  Flood(std::uint16_t port, const std::string& from)
      : thread_([this, port, from] {
          std::deque<asio::ip::tcp::socket> silent;
          while (!is_ending_) {
            silent.push_back(remote_call(port, from));
            if (silent.size() > kKept) silent.pop_front();
            ++num_calls_;
          }
        }) {}
  Flood(const Flood&) = delete;
  ~Flood() {
    is_ending_ = true;
    thread_.join();
  }

  [[nodiscard]] std::size_t num_calls() const { return num_calls_; }
  void wait_for(std::size_t num_calls) const {
    while (num_calls_ < num_calls) std::this_thread::yield();
  }

 private:
  static constexpr std::size_t kKept = 2 * kMaxHandshakes;

  std::atomic<bool> is_ending_{false};
  std::atomic<std::size_t> num_calls_{0};
  std::thread thread_;
};

}  // namespace

TEST_CASE("router: garbage instead of a handshake ends the connection") {
  Network network(1);
  Local::socket local = local_call(network.router(0));
  asio::write(local, asio::buffer(std::string(200, 'x')));
  CHECK(ends(local));
  asio::ip::tcp::socket remote(context);
  remote.connect({asio::ip::make_address("127.0.0.1"), network.router(0).port()});
  asio::write(remote,
              asio::buffer(std::string("GET / HTTP/1.1\r\nHost: somewhere\r\nmore\r\n\r\n")));
  CHECK(ends(remote));
  CHECK(drops(network.router(0), router::Drop::bad_handshake) == 2);
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
  for (std::size_t end = 0; end < kMaxHandshakes + 2; ++end) {
    silent.push_back(local_call(network.router(0)));
  }
  CHECK(happens([&] { return drops(network.router(0), router::Drop::too_many_connections) == 2; }));
}

TEST_CASE("router: silent callers keep out neither processes nor the counters' readers") {
  Network network(1);
  const auto silent = silent_callers(network.router(0).port(), 2 * kMaxHandshakes);
  Local::socket process = shake_hands(network.router(0), 0, some_key());
  CHECK(reaches_itself(process, 0, 0));
  Local::socket reader(context);
  reader.connect(Local::endpoint(network.router(0).metrics()));
  CHECK(read_metrics(reader).starts_with("HTTP/1.0 200 OK"));
}

TEST_CASE("router: a router of the job gets in during a flood from elsewhere") {
  Network network(1);
  // The job's hosts are at 127.0.0.1.
  const Flood flood(network.router(0).port(), "127.0.0.2");
  flood.wait_for(2 * kMaxHandshakes);
  for (int call = 0; call < 20; ++call) {
    auto socket = remote_call(network.router(0).port(), "127.0.0.1");
    CHECK(proves(socket, relay::make_hello(relay::Role::router, 0, some_key()), some_key()));
  }
  flood.wait_for(flood.num_calls() + 10);
}

TEST_CASE("router: a router gets in where silent callers of a host of the job have all places") {
  Network network(1);
  const auto silent = silent_callers(network.router(0).port(), kMaxHandshakes);
  auto socket = remote_call(network.router(0).port(), "127.0.0.1");
  CHECK(proves(socket, relay::make_hello(relay::Role::router, 0, some_key()), some_key()));
  CHECK(drops(network.router(0), router::Drop::too_many_connections) == 1);
}

TEST_CASE("router: the counters are served again after a connection that could not be taken") {
  // Loaded and made while the process may still have file descriptors.
  (void)relay::Sodium::loaded();
  Network network(1);
  Local::socket first(context, Local());
  Local::socket second(context, Local());
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  // Those of the standard streams alone; poll(2) takes no more than the limit.
  const rlimit none{.rlim_cur = 3, .rlim_max = limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  first.connect(Local::endpoint(network.router(0).metrics()));
  // Its thread has looked for what is new, and failed.
  for (int turn = 0; turn < 100; ++turn) (void)network.router(0).counters();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  second.connect(Local::endpoint(network.router(0).metrics()));
  CHECK(read_metrics(second).starts_with("HTTP/1.0 200 OK"));
}

TEST_CASE("router: jobs are kept apart") {
  Network network(1);
  network.admit(some_key(2));
  Local::socket ours = shake_hands(network.router(0), 0, some_key());
  Local::socket theirs = shake_hands(network.router(0), 1, some_key(2));
  // Rank 1 is a process of the other job only.
  asio::write(ours, asio::buffer(relay::to_bytes(frame_to(1, 0))));
  asio::write(ours, asio::buffer("xyz", 3));
  CHECK(happens([&] { return drops(network.router(0), router::Drop::unreachable) == 1; }));
}

TEST_CASE("router: a job that is over is closed and forgotten, others go on") {
  Network network(1);
  network.admit(some_key(2));
  Local::socket ours = known(network.router(0), 0, 0);
  Local::socket theirs = shake_hands(network.router(0), 0, some_key(2));
  REQUIRE(reaches_itself(theirs, 0, 0));

  network.router(0).remove(some_key(2));

  CHECK(ends(theirs));
  Local::socket again = local_call(network.router(0));
  CHECK_FALSE(proves(again, relay::make_hello(relay::Role::process, 0, some_key(2)), some_key(2)));
  CHECK(reaches_itself(ours, 0, 0));
  Local::socket reader(context);
  reader.connect(Local::endpoint(network.router(0).metrics()));
  CHECK(read_metrics(reader).find("\nfairlead_router_jobs 1\n") != std::string::npos);
}

TEST_CASE("router: a caller whose handshake lasts while the job ends is not admitted") {
  Network network(1);
  network.admit(some_key(2));
  Local::socket caller = local_call(network.router(0));
  const auto hello = relay::to_bytes(relay::make_hello(relay::Role::process, 0, some_key(2)));
  asio::write(caller, asio::buffer(hello));
  relay::AnswerBytes answer;
  asio::read(caller, asio::buffer(answer));

  network.router(0).remove(some_key(2));
  const auto proof = relay::check_answer(hello, answer, some_key(2));
  REQUIRE(proof);
  asio::write(caller, asio::buffer(*proof));

  CHECK(ends(caller));
}

TEST_CASE("router: a process cannot send under another's rank") {
  Network network(1);
  Local::socket socket = shake_hands(network.router(0), 5, some_key());
  const auto header = relay::to_bytes(frame_to(1, 0));
  asio::write(socket, std::array{asio::buffer(header), asio::buffer("xyz", 3)});
  CHECK(ends(socket));
  CHECK(drops(network.router(0), router::Drop::bad_frame) == 1);
}

TEST_CASE("router: bytes that are no frame end the connection of one process only") {
  Network network(1);
  Local::socket bad = shake_hands(network.router(0), 0, some_key());
  Local::socket good = shake_hands(network.router(0), 1, some_key());
  asio::write(bad, asio::buffer(std::string(1000, 'x')));
  CHECK(ends(bad));
  CHECK(reaches_itself(good, 1, 0));
}

TEST_CASE("router: a hop for which there was no connection left gets one when others have ended") {
  Network network(2, 2);
  Local::socket receiver = known(network.router(1), 1, 1);
  Local::socket sender = known(network.router(0), 0, 0);
  const std::string frame = numbered_frame(0, 0, 1);
  {
    Local::socket last = known(network.router(0), 2, 0);
    asio::write(sender, asio::buffer(frame));
    REQUIRE(
        happens([&] { return drops(network.router(0), router::Drop::too_many_connections) == 1; }));
  }

  // Until one gets there.
  receiver.non_blocking(true);
  std::array<char, 1> first{};
  REQUIRE(happens([&] {
    asio::write(sender, asio::buffer(frame));
    asio::error_code nothing;
    return receiver.read_some(asio::buffer(first), nothing) > 0;
  }));

  receiver.non_blocking(false);
  std::string rest(frame.size() - 1, ' ');
  asio::read(receiver, asio::buffer(rest));
  CHECK(message_of(first[0] + rest) == message_of(frame));
}
