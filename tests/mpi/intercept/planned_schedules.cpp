// SPDX-License-Identifier: Apache-2.0
// What is planned once serves again, and the time for planning ends.
#include "collectives/planned_schedules.hpp"

#include <limits>
#include <optional>
#include <string>

#include "../../core/catch.hpp"

using namespace fairlead::intercept;
using fairlead::collectives::Operation;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Plans by a root, each of which takes as long as is said.
struct Planning {
  PlannedSchedules schedules{};
  double clock_s = 0.0;
  double plan_s = 0.5;
  int num_plans = 0;

  std::optional<std::string> by_root(int root, double limit_s) {
    const PlannedBy by{.hosts = {0, 1},
                       .ranks_of_host = {1, 1},
                       .operation = Operation::bcast,
                       .method = "tree",
                       .root = root};
    const auto plan = [&] {
      ++num_plans;
      clock_s += plan_s;
      return "by " + std::to_string(root);
    };
    return schedules.text(by, plan, [&] { return clock_s; }, limit_s);
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

TEST_CASE("planned schedules: hosts, sizes, methods and networks have schedules of their own") {
  PlannedSchedules schedules;
  int num_plans = 0;
  const auto plan = [&](const PlannedBy& by) {
    (void)schedules.text(
        by,
        [&] {
          ++num_plans;
          return std::string();
        },
        [] { return 0.0; }, 1.0);
  };
  const PlannedBy by{.hosts = {0, 1},
                     .ranks_of_host = {1, 1},
                     .operation = Operation::bcast,
                     .method = "tree",
                     .root = 0,
                     .bytes = 1024};
  PlannedBy other = by;
  plan(by);
  other.hosts = {0, 2};
  plan(other);
  other = by;
  other.ranks_of_host = {2, 2};
  plan(other);
  other = by;
  other.operation = Operation::reduce;
  plan(other);
  other = by;
  other.method = "forest";
  plan(other);
  other = by;
  other.bytes = 2048;
  plan(other);
  other = by;
  other.network_version = 1;
  plan(other);
  plan(by);
  CHECK(num_plans == 7);
}
