// SPDX-License-Identifier: Apache-2.0
// Schedules: what is refused, what executors derive from one, and that its text reads back.
#include <string>
#include <vector>

#include "catch.hpp"
#include "fairlead/collectives/schedule.hpp"
#include "fairlead/error.hpp"

namespace {

using namespace fairlead::collectives;
using fairlead::InputError;

// Two trees over four hosts: 0 -> 1 -> {2, 3} and 0 -> 2 -> {1, 3}.
Schedule two_trees() {
  return {.operation = Operation::bcast,
          .form = Form::forest,
          .method = "trees",
          .num_hosts = 4,
          .root = 0,
          .message_bytes = 1000,
          .predicted_s = 0.1,
          .lower_bound_s = 1.0 / 3.0,
          .trees = {{-1, 0, 1, 1}, {-1, 2, 0, 2}},
          .segments = {{0, 0.3}, {1, 0.2}, {0, 0.2}, {1, 0.3}},
          .window = 2,
          .max_sends = 3};
}

Schedule grouped() {
  return {.operation = Operation::reduce,
          .form = Form::levels,
          .method = "cmpi",
          .num_hosts = 4,
          .root = 1,
          .levels = {{{1, 2}}, {{1, 0}, {2, 3}}}};
}

void require_refused(const Schedule& schedule, const std::string& problem) {
  try {
    check(schedule);
    FAIL("accepted, expected: " << problem);
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) == "schedule: " + problem);
  }
}

}  // namespace

TEST_CASE("schedule: those that can be followed are accepted") {
  CHECK_NOTHROW(check(two_trees()));
  CHECK_NOTHROW(check(grouped()));
}

TEST_CASE("schedule: a tree with a cycle is refused") {
  Schedule schedule = two_trees();
  schedule.trees[1] = {-1, 2, 3, 1};
  require_refused(schedule, "tree: hosts in a cycle");
}

TEST_CASE("schedule: a tree with another root is refused") {
  Schedule schedule = two_trees();
  schedule.trees[1] = {1, -1, 1, 1};
  require_refused(schedule, "tree: another root");
}

TEST_CASE("schedule: shares that do not add up to 1 are refused") {
  Schedule schedule = two_trees();
  schedule.segments.pop_back();
  require_refused(schedule, "segments: the shares do not add up to 1");
}

TEST_CASE("schedule: an order with a host twice is refused") {
  const Schedule schedule{.operation = Operation::barrier,
                          .form = Form::dissemination,
                          .num_hosts = 3,
                          .order = {0, 2, 2}};
  require_refused(schedule, "order: host 2 stands twice");
}

TEST_CASE("schedule: a ring of no parts, or of too many, is refused") {
  Schedule schedule{.operation = Operation::allgather,
                    .form = Form::ring,
                    .num_hosts = 2,
                    .order = {0, 1},
                    .window = 1};
  for (const std::int32_t num_parts : {0, kMaxParts + 1}) {
    schedule.num_parts = num_parts;
    require_refused(schedule, "num_parts: must be 1 to 64");
  }
}

TEST_CASE("schedule: a leader that no level above reaches is refused") {
  Schedule schedule = grouped();
  schedule.levels = {{{1, 2}}, {{3, 0}}};
  require_refused(schedule, "levels: a leader that no level above reaches");
}

TEST_CASE("schedule: islands that do not hold each host once are refused") {
  Schedule schedule{.operation = Operation::allgather,
                    .form = Form::two_level,
                    .num_hosts = 3,
                    .levels = {{{0, 1}, {2}}},
                    .window = 1};
  CHECK_NOTHROW(check(schedule));
  schedule.levels = {{{0, 1}, {1}}};
  require_refused(schedule, "levels: host 1 stands twice");
  schedule.levels = {{{0, 1}}};
  require_refused(schedule, "levels: expected 3 hosts, got 2");
  schedule.levels = {{{0, 1, 2}, {}}};
  require_refused(schedule, "levels: an empty group");
  schedule.levels = {{{0, 1}, {2}}, {{0, 1}, {2}}};
  require_refused(schedule, "levels: expected one of islands, got 2");
}

TEST_CASE("schedule: a form without executor for the operation is refused") {
  Schedule schedule = two_trees();
  schedule.operation = Operation::gather;
  require_refused(schedule, "gather has no form forest");
}

TEST_CASE("schedule: children are served from the highest subtree on") {
  // 0 has children 1 (a leaf), 2 (two levels below) and 3 (one below).
  const std::vector<std::int32_t> parent_of_host{-1, 0, 0, 0, 3, 2, 5};
  const auto children = children_of_host(parent_of_host);
  CHECK(children[0] == std::vector<std::int32_t>{2, 3, 1});
  CHECK(children[2] == std::vector<std::int32_t>{5});
}

TEST_CASE("schedule: segments cover every element once, however few there are") {
  const std::vector<Segment> segments = two_trees().segments;
  CHECK(segment_starts(segments, 1000) == std::vector<std::uint64_t>{0, 300, 500, 700, 1000});
  for (std::uint64_t num_elements = 0; num_elements < 7; ++num_elements) {
    const auto starts = segment_starts(segments, num_elements);
    REQUIRE(starts.size() == 5);
    CHECK(starts.front() == 0);
    CHECK(starts.back() == num_elements);
    for (std::size_t index = 1; index < starts.size(); ++index) {
      CHECK(starts[index - 1] <= starts[index]);
    }
  }
}

TEST_CASE("schedule: blocks of a vector differ by one element at most") {
  CHECK(block_starts(3, 8) == std::vector<std::uint64_t>{0, 3, 6, 8});
  CHECK(block_starts(4, 2) == std::vector<std::uint64_t>{0, 1, 2, 2, 2});
}

TEST_CASE("schedule: each part of a ring's block is longer than the one before, the last longest") {
  const auto starts = [](std::int32_t num_parts, std::uint64_t num_elements) {
    std::vector<std::uint64_t> all;
    for (std::int32_t part = 0; part <= num_parts; ++part) {
      all.push_back(part_start(part, num_parts, num_elements));
    }
    return all;
  };
  CHECK(starts(1, 7) == std::vector<std::uint64_t>{0, 7});
  CHECK(starts(2, 9) == std::vector<std::uint64_t>{0, 3, 9});
  CHECK(starts(3, 60) == std::vector<std::uint64_t>{0, 10, 30, 60});
  CHECK(starts(3, 0) == std::vector<std::uint64_t>{0, 0, 0, 0});
  // No product of both overflows.
  constexpr std::uint64_t kMany = std::uint64_t{1} << 63U;
  CHECK(part_start(kMaxParts, kMaxParts, kMany) == kMany);
  for (std::uint64_t num_elements = 0; num_elements < 40; ++num_elements) {
    for (std::int32_t num_parts = 1; num_parts <= 5; ++num_parts) {
      const std::vector<std::uint64_t> all = starts(num_parts, num_elements);
      CHECK(all.front() == 0);
      CHECK(all.back() == num_elements);
      const std::uint64_t last = all.back() - all[all.size() - 2];
      for (std::size_t part = 1; part < all.size(); ++part)
        CHECK(all[part] - all[part - 1] <= last);
    }
  }
}
