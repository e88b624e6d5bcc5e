// SPDX-License-Identifier: Apache-2.0
// What is planned once serves again, and the time for planning ends.
#include "collectives/planned_schedules.hpp"

#include <array>
#include <limits>
#include <optional>
#include <string>

#include "../../core/catch.hpp"

using namespace fairlead::intercept;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

const std::array<CollectiveRule, 8> kRules;

/// Plans that each take half a second.
struct Planning {
  PlannedSchedules schedules{};
  double clock_s = 0.0;
  int num_plans = 0;

  std::optional<std::string> text(const PlannedBy& by, double limit_s) {
    const auto plan = [&] {
      ++num_plans;
      clock_s += 0.5;
      return "by " + std::to_string(by.root);
    };
    return schedules.text(by, plan, [&] { return clock_s; }, limit_s);
  }
  std::optional<std::string> by_root(int root, double limit_s) {
    return text({.rule = &kRules[0], .root = root}, limit_s);
  }
};

}  // namespace

TEST_CASE("planned schedules: what one communicator has planned, the next one takes") {
  Planning planning;
  CHECK(planning.by_root(0, kNoLimit) == "by 0");
  CHECK(planning.by_root(1, kNoLimit) == "by 1");
  CHECK(planning.by_root(0, kNoLimit) == "by 0");
  CHECK(planning.num_plans == 2);
}

TEST_CASE("planned schedules: after the time for planning only what is known serves") {
  Planning planning;
  int num_planned = 0;
  for (int root = 0; root < 64; ++root) {
    if (planning.by_root(root, 2.0)) ++num_planned;
  }
  CHECK(num_planned == 4);
  CHECK(planning.clock_s == 2.0);
  CHECK(planning.by_root(3, 2.0) == "by 3");
  CHECK_FALSE(planning.by_root(4, 2.0).has_value());
  // A reproducible plan has all of its schedules, whatever that takes.
  CHECK(planning.by_root(4, kNoLimit) == "by 4");
}

TEST_CASE("planned schedules: each rule has its first schedule, whatever others have taken") {
  Planning planning;
  for (const CollectiveRule& rule : kRules) {
    CHECK(planning.text({.rule = &rule, .root = 0}, 2.0).has_value());
  }
  for (const CollectiveRule& rule : kRules) {
    CHECK_FALSE(planning.text({.rule = &rule, .root = 1}, 2.0).has_value());
  }
}

TEST_CASE("planned schedules: rules, hosts, sizes and networks have schedules of their own") {
  Planning planning;
  const PlannedBy by{.rule = &kRules[0],
                     .hosts = {0, 1},
                     .ranks_of_host = {1, 1},
                     .root = 0,
                     .bytes = 1024,
                     .network_version = 0};
  std::array<PlannedBy, 7> each;
  each.fill(by);
  each[1].rule = &kRules[1];
  each[2].hosts = {0, 2};
  each[3].ranks_of_host = {2, 2};
  each[4].root = 1;
  each[5].bytes = 2048;
  each[6].network_version = 1;
  for (const PlannedBy& one : each) (void)planning.text(one, kNoLimit);
  (void)planning.text(by, kNoLimit);
  CHECK(planning.num_plans == 7);
}
