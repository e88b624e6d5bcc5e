// SPDX-License-Identifier: Apache-2.0
// Many frames with one system call: what is taken from a socket, and what is put into one.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "ends.hpp"
#include "router/intake.hpp"
#include "router/output.hpp"

using namespace fairlead::router;
using fairlead::tests::Ends;
using fairlead::tests::some_bytes;

namespace {

constexpr std::size_t kHeaderBytes = 88;

/// What is still in a socket.
std::size_t num_waiting(int socket) {
  std::vector<std::byte> bytes(1 << 20);
  const ssize_t size = recv(socket, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

// TCP may deliver a little later.
void wait_for(int socket, std::size_t size) {
  while (num_waiting(socket) < size) std::this_thread::yield();
}

std::vector<std::byte> read(Intake& intake, int socket, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::span<std::byte> missing(bytes);
  REQUIRE(intake.read(socket, missing) == Progress::complete);
  return bytes;
}

}  // namespace

TEST_CASE("intake: the first part of what has come takes all of it from the socket") {
  const Pipes pipes;
  for (const bool is_tcp : {false, true}) {
    const Ends ends(is_tcp);
    const auto bytes = some_bytes(50000);
    std::span<const std::byte> unsent(bytes);
    REQUIRE(send(ends.near(), unsent, false) == Progress::complete);
    wait_for(ends.far(), bytes.size());
    Intake intake(pipes.batches);

    const auto first = read(intake, ends.far(), kHeaderBytes);

    CHECK(std::ranges::equal(first, std::span(bytes).first(kHeaderBytes)));
    CHECK(num_waiting(ends.far()) == 0);
    const auto rest = read(intake, ends.far(), bytes.size() - kHeaderBytes);
    CHECK(std::ranges::equal(rest, std::span(bytes).subspan(kHeaderBytes)));
  }
}

TEST_CASE("intake: without a pipe of its own it takes from the socket what is asked for") {
  const auto none = std::make_shared<PipePool>(16, 0);
  const Pipes pipes;
  const Ends ends(false);
  const auto bytes = some_bytes(50000);
  std::span<const std::byte> unsent(bytes);
  REQUIRE(send(ends.near(), unsent, false) == Progress::complete);
  Intake intake(none);

  const auto first = read(intake, ends.far(), kHeaderBytes);
  const auto payload = pipes.payloads->lease();
  std::size_t missing_bytes = bytes.size() - kHeaderBytes;
  REQUIRE(intake.move(ends.far(), *payload, missing_bytes) == Progress::complete);

  CHECK(missing_bytes == 0);
  std::vector<std::byte> moved(bytes.size() - kHeaderBytes);
  REQUIRE(payload->read(moved) == static_cast<ssize_t>(moved.size()));
  CHECK(std::ranges::equal(first, std::span(bytes).first(kHeaderBytes)));
  CHECK(std::ranges::equal(moved, std::span(bytes).subspan(kHeaderBytes)));
}

TEST_CASE("intake: idle connections keep no pipe") {
  const auto one = std::make_shared<PipePool>(16, 1);
  const Ends ends(false);
  Intake intake(one);
  std::array<std::byte, 1> byte{};
  std::span<std::byte> missing(byte);
  REQUIRE(intake.read(ends.far(), missing) == Progress::blocked);
  CHECK(one->lease() != nullptr);
}

TEST_CASE("intake: takes until there are so many bytes, or its pipe is full") {
  const auto pipes = std::make_shared<PipePool>(16, 1);
  const Ends ends(false);
  Intake intake(pipes);
  REQUIRE(intake.has_pipe());
  const auto write = [&](std::size_t size) {
    const auto bytes = some_bytes(size);
    std::span<const std::byte> unsent(bytes);
    REQUIRE(send(ends.near(), unsent, false) == Progress::complete);
  };

  write(999);
  CHECK(intake.fill(ends.far(), 1000) == Progress::blocked);
  write(1);
  CHECK(intake.fill(ends.far(), 1000) == Progress::complete);
  // Each takes one of its 16 places.
  for (int part = 0; part < 20; ++part) write(1);
  CHECK(intake.fill(ends.far(), 2000) == Progress::complete);
}

TEST_CASE("intake: passes to another socket what is asked for, and keeps the rest") {
  const Pipes pipes;
  const Ends from(false);
  const Ends to(true);
  const auto bytes = some_bytes(50000);
  std::span<const std::byte> unsent(bytes);
  REQUIRE(send(from.near(), unsent, false) == Progress::complete);
  Intake intake(pipes.batches);
  REQUIRE(intake.has_pipe());
  REQUIRE(intake.fill(from.far(), bytes.size()) == Progress::complete);

  std::size_t missing_bytes = 30000;
  CHECK(intake.pass(to.near(), missing_bytes) == Progress::complete);
  CHECK(missing_bytes == 0);
  wait_for(to.far(), 30000);

  CHECK(num_waiting(to.far()) == 30000);
  const auto rest = read(intake, from.far(), 20000);
  CHECK(std::ranges::equal(rest, std::span(bytes).subspan(30000)));
}

TEST_CASE("output: parts are sent together, in order, when it is flushed") {
  const Pipes pipes;
  const Ends ends(true);
  const auto bytes = some_bytes(2 * kHeaderBytes);
  std::span<const std::byte> first = std::span(bytes).first(kHeaderBytes);
  std::span<const std::byte> second = std::span(bytes).subspan(kHeaderBytes);
  Output output(ends.near(), pipes.batches->lease());

  REQUIRE(output.write(first, false) == Progress::complete);
  REQUIRE(output.write(second, false) == Progress::complete);
  CHECK(num_waiting(ends.far()) == 0);
  REQUIRE(output.flush() == Progress::complete);
  wait_for(ends.far(), bytes.size());

  std::vector<std::byte> taken(bytes.size());
  std::span<std::byte> missing(taken);
  REQUIRE(receive(ends.far(), missing) == Progress::complete);
  CHECK(taken == bytes);
}

TEST_CASE(
    "output: more than its pipe has space for goes out before, and is blocked by the socket") {
  const auto pipes = std::make_shared<PipePool>(16, 1);
  const Ends ends(false);
  const auto bytes = some_bytes(std::size_t{4} << 20U);
  Output output(ends.near(), pipes->lease());
  std::vector<std::byte> taken(bytes.size());
  std::span<std::byte> missing(taken);

  std::span<const std::byte> unsent(bytes);
  Progress progress = output.write(unsent, false);
  CHECK(progress == Progress::blocked);
  while (!missing.empty()) {
    REQUIRE(receive(ends.far(), missing) != Progress::ended);
    if (!unsent.empty()) progress = output.write(unsent, false);
    if (unsent.empty()) progress = output.flush();
    REQUIRE(progress != Progress::ended);
  }

  CHECK(taken == bytes);
}
