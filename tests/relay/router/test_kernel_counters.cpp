// SPDX-License-Identifier: Apache-2.0
// What is read of the kernel's counters.
#include <sys/socket.h>

#include <string>

#include "catch.hpp"
#include "ends.hpp"
#include "router/pacing/kernel_counters.hpp"

using namespace fairlead::router;
using fairlead::tests::Ends;
using fairlead::tests::some_bytes;

namespace {

// As Linux 6.1 writes it.
constexpr const char* kText =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
    "fifo colls carrier compressed\n"
    "    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n"
    "  eth0: 123456789012   12    0    0    0     0          0         3 98765   11    0    0    0 "
    "    0       0          0\n"
    "eth0.5: 1 1 0 0 0 0 0 0 2 1 0 0 0 0 0 0\n"
    "  cut0: 1 2\n";

}  // namespace

TEST_CASE("kernel counters: bytes are the first and the ninth number of an interface's line") {
  CHECK(parse_interface_bytes(kText, "eth0") ==
        InterfaceBytes{.received = 123456789012, .sent = 98765});
  CHECK(parse_interface_bytes(kText, "eth0.5") == InterfaceBytes{.received = 1, .sent = 2});
}

TEST_CASE("kernel counters: an interface without a whole line is not there") {
  CHECK_FALSE(parse_interface_bytes(kText, "eth1").has_value());
  CHECK_FALSE(parse_interface_bytes(kText, "eth").has_value());
  CHECK_FALSE(parse_interface_bytes(kText, "cut0").has_value());
  CHECK_FALSE(parse_interface_bytes("", "eth0").has_value());
}

TEST_CASE("kernel counters: those of this machine are read") {
  CHECK(interface_bytes("lo").has_value());
}

TEST_CASE("kernel counters: a connection counts what has left by it, not what it was given") {
  const Ends ends(true);
  // The other end reads nothing, so that most stays here.
  const auto bytes = some_bytes(std::size_t{64} << 20U);
  const ssize_t given = send(ends.near(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  REQUIRE(given > 0);

  CHECK(sent_bytes(ends.near()) > 0);
  CHECK(sent_bytes(ends.near()) < static_cast<std::uint64_t>(given));
  CHECK(sent_bytes(ends.far()) == 0);
  CHECK(sent_bytes(-1) == 0);
}
