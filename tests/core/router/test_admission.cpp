// SPDX-License-Identifier: Apache-2.0
// Who may speak with a router, and what becomes of the others.
#include <array>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "catch.hpp"
#include "processes.hpp"
#include "routers.hpp"

using namespace fairlead;
using namespace fairlead::tests;

namespace {

template <class Socket>
bool ends(Socket& socket) {
  std::array<std::byte, 256> bytes;
  asio::error_code ended;
  while (!ended) socket.read_some(asio::buffer(bytes), ended);
  return true;
}

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
  const auto header = relay::to_bytes(frame_to(1, 0));
  asio::write(socket, std::array{asio::buffer(header), asio::buffer("xyz", 3)});
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
