// SPDX-License-Identifier: Apache-2.0
// Where blocks cross between islands once: who lets them in, and that all of them reach all hosts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "catch.hpp"
#include "collectives/program.hpp"
#include "fairlead/collectives/islands.hpp"

namespace {

using namespace fairlead::collectives;

std::vector<Group> drawn_islands(std::int32_t num_hosts, std::size_t num_islands,
                                 std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Group> islands(num_islands);
  std::vector<std::int32_t> hosts(static_cast<std::size_t>(num_hosts));
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    hosts[host] = static_cast<std::int32_t>(host);
  }
  std::shuffle(hosts.begin(), hosts.end(), random);
  for (const std::int32_t host : hosts) islands[random() % num_islands].push_back(host);
  std::erase_if(islands, [](const Group& island) { return island.empty(); });
  return islands;
}

Schedule two_level(Operation operation, std::vector<Group> islands, std::int32_t num_hosts) {
  return {.operation = operation,
          .form = Form::two_level,
          .num_hosts = num_hosts,
          .message_bytes = 1,
          .levels = {std::move(islands)},
          .window = 1,
          .max_sends = 2};
}

/// A program does not show what a message holds in addition to its own host's block; each sends
/// what its sender has got by the messages that it waits for.
std::vector<std::set<std::int32_t>> known_at_the_end(const Program& program,
                                                     std::int32_t num_hosts) {
  std::vector<std::vector<std::int32_t>> awaited(program.transfers.size());
  for (const auto& [earlier, later] : program.dependencies) {
    awaited[static_cast<std::size_t>(later)].push_back(earlier);
  }
  std::vector<std::set<std::int32_t>> known(static_cast<std::size_t>(num_hosts));
  for (std::size_t index = 0; index < program.transfers.size(); ++index) {
    const auto& [src, dst, num_bytes] = program.transfers[index];
    std::int32_t block = src;
    for (const std::int32_t earlier : awaited[index]) {
      const Transfer& before = program.transfers[static_cast<std::size_t>(earlier)];
      if (before.dst == src) block = before.src;
    }
    known[static_cast<std::size_t>(dst)].insert(block);
  }
  return known;
}

}  // namespace

TEST_CASE("islands: a host of the same position lets a block in, around again in a smaller one") {
  const std::vector<Group> groups{{4, 0, 2}, {1, 3}};
  const Islands islands(groups);
  CHECK(islands.island_of(2) == 0);
  CHECK(islands.mates_of(0) == std::vector<std::int32_t>{2, 4});
  CHECK(islands.islands_beyond(3) == std::vector<std::size_t>{0});
  CHECK(islands.entry_of(0, 1) == 3);
  CHECK(islands.entry_of(2, 1) == 1);
  CHECK(islands.entering_by(1) == std::vector<std::int32_t>{4, 2});
  CHECK(islands.entering_by(2).empty());
}

TEST_CASE("islands: each block enters each other island by one host, which knows that it does") {
  constexpr std::int32_t kNumHosts = 13;
  const auto seed = GENERATE(range(1U, 9U));
  const std::vector<Group> groups = drawn_islands(kNumHosts, 1 + seed % 5, seed);
  const Islands islands(groups);
  std::multiset<std::pair<std::int32_t, std::int32_t>> entries, known;
  for (std::int32_t host = 0; host < kNumHosts; ++host) {
    for (const std::size_t island : islands.islands_beyond(host)) {
      const std::int32_t entry = islands.entry_of(host, island);
      CHECK(islands.island_of(entry) == island);
      entries.emplace(host, entry);
    }
    for (const std::int32_t block : islands.entering_by(host)) known.emplace(block, host);
  }
  CHECK(entries == known);
}

TEST_CASE("islands: in an allgather each host gets each other block, and by one message") {
  constexpr std::int32_t kNumHosts = 13;
  const auto seed = GENERATE(range(1U, 9U));
  const Schedule schedule =
      two_level(Operation::allgather, drawn_islands(kNumHosts, 1 + seed % 5, seed), kNumHosts);
  check(schedule);
  const Program program = program_of(schedule);
  CHECK(program.transfers.size() == kNumHosts * (kNumHosts - 1));
  const auto known = known_at_the_end(program, kNumHosts);
  for (std::size_t host = 0; host < known.size(); ++host) {
    CHECK(known[host].size() == kNumHosts - 1);
    CHECK(known[host].count(static_cast<std::int32_t>(host)) == 0);
  }
}
