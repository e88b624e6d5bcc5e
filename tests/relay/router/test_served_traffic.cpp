// SPDX-License-Identifier: Apache-2.0
// Whose sockets have carried what: those of this process, and of another.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "ends.hpp"
#include "router/pacing/process_sockets.hpp"
#include "router/pacing/served_traffic.hpp"
#include "tcp_ends.hpp"

using namespace fairlead::router;
using fairlead::tests::Ends;
using fairlead::tests::known_sockets;
using fairlead::tests::some_bytes;
using fairlead::tests::TcpEnds;

namespace {

/// Waits until the kernel has counted all of it.
/// @return what was sent again
std::size_t send_bytes(const TcpEnds& ends, std::size_t size) {
  REQUIRE(send(ends.near(), some_bytes(size).data(), size, 0) == static_cast<ssize_t>(size));
  REQUIRE(ends.come_to_rest());
  return ends.repeated_bytes();
}

/// A process that has a connection with itself, over which it sends on request.
class OtherProcess {
 public:
  explicit OtherProcess(std::size_t size_bytes) {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, line_.data()) == 0);
    id_ = fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) talk(size_bytes);
    (void)hear();
  }
  ~OtherProcess() {
    end();
    close(line_[0]);
    close(line_[1]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  [[nodiscard]] pid_t id() const { return id_; }
  /// @return what was sent again
  std::size_t send_all() {
    REQUIRE(write(line_[0], "x", 1) == 1);
    return hear();
  }
  void end() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = 0;
  }

 private:
  [[nodiscard]] std::size_t hear() const {
    std::size_t repeated_bytes = 0;
    REQUIRE(read(line_[0], &repeated_bytes, sizeof repeated_bytes) == sizeof repeated_bytes);
    return repeated_bytes;
  }
  [[noreturn]] void talk(std::size_t size_bytes) const {
    const TcpEnds ends;
    std::size_t repeated_bytes = 0;
    char asked = 0;
    const std::vector<std::byte> bytes = some_bytes(size_bytes);
    bool is_well = write(line_[1], &repeated_bytes, sizeof repeated_bytes) > 0 &&
                   read(line_[1], &asked, 1) == 1;
    is_well = is_well && send(ends.near(), bytes.data(), size_bytes, 0) >= 0;
    is_well = is_well && ends.come_to_rest();
    repeated_bytes = ends.repeated_bytes();
    is_well = is_well && write(line_[1], &repeated_bytes, sizeof repeated_bytes) > 0;
    if (is_well) pause();
    _exit(1);
  }

  std::array<int, 2> line_{};
  pid_t id_ = 0;
};

InterfaceBytes noted(ServedTraffic& traffic, const std::set<pid_t>& processes) {
  const auto total = traffic.update(known_sockets(), processes);
  REQUIRE(total.has_value());
  return *total;
}

// Packets up to 64 KiB, which is what the loopback interface has, with acks.
bool is_about(std::uint64_t bytes, std::uint64_t expected) {
  return bytes >= expected && bytes < expected + 4000;
}

}  // namespace

TEST_CASE("served traffic: what a process sends to itself counts in both directions") {
  const TcpEnds ends;
  ServedTraffic traffic;
  const InterfaceBytes before = noted(traffic, {getpid()});

  const std::size_t repeated = send_bytes(ends, 100'000);
  const InterfaceBytes passed = noted(traffic, {getpid()}) - before;

  CHECK(is_about(passed.sent, 100'000 + repeated));
  CHECK(is_about(passed.received, 100'000));
}

TEST_CASE("served traffic: a connection that is made later counts from its beginning") {
  ServedTraffic traffic;
  const InterfaceBytes before = noted(traffic, {getpid()});

  const TcpEnds ends;
  const std::size_t repeated = send_bytes(ends, 50'000);

  CHECK(is_about((noted(traffic, {getpid()}) - before).sent, 50'000 + repeated));
}

TEST_CASE("served traffic: what a closed connection has carried is not taken back") {
  ServedTraffic traffic;
  std::optional<TcpEnds> ends(std::in_place);
  send_bytes(*ends, 50'000);
  const InterfaceBytes before = noted(traffic, {getpid()});

  ends.reset();

  CHECK(noted(traffic, {getpid()}) == before);
}

TEST_CASE("served traffic: another process counts only if it is served") {
  OtherProcess other(70'000);
  ServedTraffic own;
  ServedTraffic both;
  const InterfaceBytes own_before = noted(own, {getpid()});
  const InterfaceBytes both_before = noted(both, {getpid(), other.id()});

  const std::size_t repeated = other.send_all();

  CHECK(noted(own, {getpid()}) == own_before);
  CHECK(is_about((noted(both, {getpid(), other.id()}) - both_before).sent, 70'000 + repeated));
}

TEST_CASE("served traffic: a process that is served later counts from then on") {
  OtherProcess other(70'000);
  ServedTraffic traffic;
  const InterfaceBytes before = noted(traffic, {getpid()});
  other.send_all();
  CHECK(noted(traffic, {getpid()}) == before);

  CHECK(noted(traffic, {getpid(), other.id()}) == before);
}

TEST_CASE("served traffic: no result while the sockets of a process are unknown") {
  OtherProcess other(1);
  const auto sockets = known_sockets();
  ServedTraffic traffic;
  const pid_t ended = other.id();
  other.end();

  CHECK_FALSE(traffic.update(sockets, {getpid(), 0}).has_value());
  CHECK_FALSE(traffic.update(sockets, {getpid(), ended}).has_value());
  CHECK(traffic.update(sockets, {getpid()}).has_value());
}

TEST_CASE("served traffic: the process at the other end of a Unix socket is known") {
  const Ends ends(false);
  CHECK(process_at(ends.near()) == getpid());
  CHECK(process_at(-1) == 0);
}
