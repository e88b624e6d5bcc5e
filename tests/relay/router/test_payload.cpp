// SPDX-License-Identifier: Apache-2.0
// Payloads between two sockets, in pipes and without.
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "catch.hpp"
#include "ends.hpp"
#include "router/payload.hpp"

using namespace fairlead::router;
using fairlead::tests::Ends;
using fairlead::tests::some_bytes;

namespace {

/// What comes out at the other side of a payload, if it goes in in pieces of so many bytes.
std::vector<std::byte> passed(const std::vector<std::byte>& bytes, std::size_t piece_bytes,
                              bool is_tcp, const Pipes& pipes) {
  const Ends from(is_tcp);
  const Ends to(is_tcp);
  Intake intake(pipes.batches);
  Payload payload(bytes.size(), *pipes.payloads);
  std::span<const std::byte> unsent(bytes);
  Progress received = Progress::blocked;
  while (received == Progress::blocked) {
    std::span<const std::byte> piece = unsent.first(std::min(piece_bytes, unsent.size()));
    const std::size_t size = piece.size();
    REQUIRE(send(from.near(), piece, false) != Progress::ended);
    unsent = unsent.subspan(size - piece.size());
    // Several pieces wait in the socket at once.
    if (unsent.empty() || piece.size() > 0) received = payload.receive(intake, from.far());
  }
  REQUIRE(received == Progress::complete);
  std::vector<std::byte> taken(bytes.size());
  std::span<std::byte> missing(taken);
  Output output(to.near(), {});
  Progress sent = payload.send(output, false);
  while (!missing.empty()) {
    REQUIRE(receive(to.far(), missing) != Progress::ended);
    if (sent == Progress::blocked) sent = payload.send(output, false);
    REQUIRE(sent != Progress::ended);
  }
  CHECK(sent == Progress::complete);
  return taken;
}

/// Until it ends, the process gets no more file descriptors. Nothing may be claimed meanwhile: the
/// undefined behaviour sanitizer needs a pipe to look at an object.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &former_) == 0);
    rlimit none = former_;
    none.rlim_cur = 0;
    is_in_force_ = setrlimit(RLIMIT_NOFILE, &none) == 0;
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &former_); }
  [[nodiscard]] bool is_in_force() const { return is_in_force_; }

 private:
  rlimit former_{};
  bool is_in_force_ = false;
};

}  // namespace

TEST_CASE("payload: what comes out is what went in, over both kinds of sockets") {
  const Pipes pipes;
  for (const bool is_tcp : {false, true}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, Payload::kMinSplicedBytes - 1,
                                   Payload::kMinSplicedBytes, std::size_t{65536}}) {
      const auto bytes = some_bytes(size);
      CHECK(passed(bytes, 65536, is_tcp, pipes) == bytes);
      CHECK(passed(bytes, 1000, is_tcp, pipes) == bytes);
    }
  }
}

TEST_CASE("payload: one that has more parts than a pipe has space for is complete all the same") {
  const Pipes pipes;
  const auto bytes = some_bytes(65536);
  constexpr std::size_t kPieceBytes = 500;
  static_assert(65536 / kPieceBytes > Pipes::kPayloadSlots);
  CHECK(passed(bytes, kPieceBytes, false, pipes) == bytes);
}

TEST_CASE("payload: without a pipe it is copied") {
  const Pipes pipes;
  const auto bytes = some_bytes(65536);
  const Ends from(false);
  const Ends to(false);
  std::vector<std::byte> taken(bytes.size());
  std::span<const std::byte> unsent(bytes);
  REQUIRE(send(from.near(), unsent, false) == Progress::complete);
  bool is_without_pipe = false;
  Progress received = Progress::blocked;
  Progress sent = Progress::blocked;
  {
    const NoMoreFiles no_more_files;
    is_without_pipe = no_more_files.is_in_force() && pipes.payloads->lease() == nullptr;
    Payload payload(bytes.size(), *pipes.payloads);
    Intake intake(pipes.batches);
    Output output(to.near(), pipes.payloads->lease());
    received = payload.receive(intake, from.far());
    sent = payload.send(output, false);
  }
  REQUIRE(is_without_pipe);
  REQUIRE(received == Progress::complete);
  REQUIRE(sent == Progress::complete);
  std::span<std::byte> missing(taken);
  REQUIRE(receive(to.far(), missing) == Progress::complete);
  CHECK(taken == bytes);
}

TEST_CASE("payload: what is dropped on its way is not in the pipe of the next one") {
  const Pipes pipes;
  const Ends ends(false);
  const auto dropped = some_bytes(50000);
  std::span<const std::byte> unsent(dropped);
  {
    Payload payload(65536, *pipes.payloads);
    REQUIRE(send(ends.near(), unsent, false) == Progress::complete);
    Intake intake(pipes.batches);
    REQUIRE(payload.receive(intake, ends.far()) == Progress::blocked);
  }
  const std::vector<std::byte> other(65536, std::byte{7});
  CHECK(passed(other, 65536, false, pipes) == other);
}

TEST_CASE("payload: zeros take the place of what has not come") {
  const Pipes pipes;
  constexpr std::size_t kPartBytes = 5000;
  for (const std::size_t size : {Payload::kMinSplicedBytes - 1, std::size_t{65536}}) {
    const Ends from(false);
    const Ends to(false);
    std::vector<std::byte> bytes = some_bytes(kPartBytes);
    std::span<const std::byte> unsent(bytes);
    REQUIRE(send(from.near(), unsent, false) == Progress::complete);
    Intake intake(pipes.batches);
    Payload payload(size, *pipes.payloads);
    REQUIRE(payload.receive(intake, from.far()) == Progress::blocked);

    payload.pad();
    Output output(to.near(), {});
    REQUIRE(payload.send(output, false) == Progress::complete);

    std::vector<std::byte> taken(size, std::byte{1});
    std::span<std::byte> missing(taken);
    REQUIRE(receive(to.far(), missing) == Progress::complete);
    bytes.resize(size);
    CHECK(taken == bytes);
  }
}

TEST_CASE("payload: the end of a connection in its middle is its end") {
  const Pipes pipes;
  for (const bool is_tcp : {false, true}) {
    const Ends ends(is_tcp);
    const auto part = some_bytes(20000);
    std::span<const std::byte> unsent(part);
    REQUIRE(send(ends.near(), unsent, false) == Progress::complete);
    REQUIRE(shutdown(ends.near(), SHUT_WR) == 0);
    Intake intake(pipes.batches);
    Payload payload(65536, *pipes.payloads);
    Progress progress = Progress::blocked;
    while (progress == Progress::blocked) progress = payload.receive(intake, ends.far());
    CHECK(progress == Progress::ended);
  }
}

TEST_CASE("payload: a pool gives a limited number of pipes, and again those that came back") {
  constexpr std::size_t kMaxPipes = 5;
  const auto pipes = std::make_shared<PipePool>(16, kMaxPipes);
  std::vector<PipePool::Lease> leases;
  for (std::size_t index = 0; index < kMaxPipes; ++index) {
    leases.push_back(pipes->lease());
    REQUIRE(leases.back() != nullptr);
  }
  CHECK(pipes->lease() == nullptr);
  const Pipe* const returned = leases.back().get();
  leases.pop_back();
  CHECK(pipes->lease().get() == returned);
}
