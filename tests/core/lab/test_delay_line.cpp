// SPDX-License-Identifier: Apache-2.0
// The delay line of the emulated cloud without its devices: when frames leave, and where to.
#include <algorithm>
#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "delay_queue.hpp"
#include "frame.hpp"
#include "host_table.hpp"

using namespace fairlead::delay_line;

namespace {

/// Headers of an echo request from 10.77.0.1 to 10.77.0.2, by RFC 894 and RFC 791.
const std::vector<std::uint8_t> kPing = {
    0x02, 0x66, 0x6c, 0x64, 0x6c, 0x00, 0x5e, 0x11, 0xa0, 0x77, 0x2b, 0x01,  // Ethernet: dst, src
    0x08, 0x00,                                                              // IPv4
    0x45, 0x00, 0x00, 0x54, 0x1d, 0x41, 0x40, 0x00, 0x40, 0x01, 0x08, 0xcc,  // to the checksum
    0x0a, 0x4d, 0x00, 0x01, 0x0a, 0x4d, 0x00, 0x02};

HostTable table(const std::string& text) {
  std::istringstream input(text);
  return HostTable::read(input);
}

}  // namespace

TEST_CASE("delay queue: what is due leaves in the order of a stable sort") {
  std::mt19937 random(1);
  std::vector<std::pair<std::int64_t, int>> items;
  DelayQueue<int> queue;
  for (int number = 0; number < 1000; ++number) {
    const auto due_ns = static_cast<std::int64_t>(random() % 50);  // many are due together
    items.emplace_back(due_ns, number);
    queue.push(due_ns, number);
  }
  std::ranges::stable_sort(items, {}, &std::pair<std::int64_t, int>::first);

  for (const auto& [due_ns, number] : items) {
    REQUIRE(queue.next_due_ns() == due_ns);
    REQUIRE(queue.pop() == number);
  }
  REQUIRE(queue.is_empty());
}

TEST_CASE("delay queue: nothing is due before its time") {
  DelayQueue<int> queue;
  REQUIRE_FALSE(queue.is_due(1'000'000));

  queue.push(500, 1);

  REQUIRE_FALSE(queue.is_due(499));
  REQUIRE(queue.is_due(500));
}

TEST_CASE("frame: the ends of a packet are found, and its receiver is set") {
  std::vector<std::uint8_t> frame = kPing;

  const auto ends = ends_of(frame);
  readdress(frame, parse_hardware_address("5e:11:a0:77:2b:02"));

  REQUIRE(ends.has_value());
  CHECK(ends->src == parse_address("10.77.0.1"));
  CHECK(ends->dst == parse_address("10.77.0.2"));
  CHECK(frame[0] == 0x5e);
  CHECK(frame[5] == 0x02);
  CHECK(std::equal(frame.begin() + 6, frame.end(), kPing.begin() + 6));
}

TEST_CASE("frame: one that is too short, and one of another protocol, has no ends") {
  std::vector<std::uint8_t> arp = kPing;
  arp[13] = 0x06;
  const std::vector<std::uint8_t> cut(kPing.begin(), kPing.end() - 1);

  CHECK_FALSE(ends_of(arp).has_value());
  CHECK_FALSE(ends_of(cut).has_value());
  CHECK_FALSE(ends_of({}).has_value());
}

TEST_CASE("host table: each direction of a pair has its own delay") {
  const HostTable hosts =
      table("2\n10.77.0.1 02:00:00:00:00:01 0 250000\n10.77.0.2 02:00:00:00:00:02 70000 0\n");
  const std::uint32_t first = parse_address("10.77.0.1"), second = parse_address("10.77.0.2");

  CHECK(hosts.hop({first, second})->delay_ns == 250'000);
  CHECK(hosts.hop({second, first})->delay_ns == 70'000);
  CHECK(hosts.hop({first, second})->hardware == parse_hardware_address("02:00:00:00:00:02"));
  CHECK_FALSE(hosts.hop({first, parse_address("10.77.255.254")}).has_value());
}

TEST_CASE("host table: what is incomplete or wrong is refused") {
  for (const char* text :
       {"", "1\n10.77.0.1 02:00:00:00:00:01\n", "1\n10.77.0.1 02:00:00:00:00:01 -5\n",
        "1\n10.77.0.256 02:00:00:00:00:01 0\n", "1\n10.77.0.1.2 02:00:00:00:00:01 0\n",
        "1\n10.77.0.1 02:00:00:00:00 0\n", "1\n10.77.0.1 02:00:00:00:00:0g 0\n",
        "2\n10.77.0.1 02:00:00:00:00:01 0 0\n10.77.0.1 02:00:00:00:00:02 0 0\n"}) {
    INFO(text);
    CHECK_THROWS_AS(table(text), std::invalid_argument);
  }
}
