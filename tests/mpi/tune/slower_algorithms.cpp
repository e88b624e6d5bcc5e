// SPDX-License-Identifier: Apache-2.0
// Algorithms that are not timed any more: each of which another one has beaten in every round.
#include "slower_algorithms.hpp"

#include <vector>

#include "catch.hpp"

using fairlead::tune::drop_slower;

namespace {

using Rounds = std::vector<std::vector<double>>;

std::vector<bool> left_after(const Rounds& rounds_s) {
  std::vector<bool> is_timed(rounds_s.front().size(), true);
  drop_slower(rounds_s, is_timed);
  return is_timed;
}

}  // namespace

TEST_CASE("slower algorithms: one that another beat in each round ends, the first one stays") {
  CHECK(left_after(Rounds{{9, 2, 3, 4}, {9, 5, 6, 4}}) ==
        std::vector<bool>{true, true, false, true});
  CHECK(left_after(Rounds{{1, 2, 3}, {1, 2, 3}}) == std::vector<bool>{true, false, false});
}

TEST_CASE("slower algorithms: of equal ones the earlier one stays, and a single win is enough") {
  CHECK(left_after(Rounds{{9, 2, 2}, {9, 3, 3}}) == std::vector<bool>{true, true, false});
  CHECK(left_after(Rounds{{9, 2, 3}, {9, 2, 3}, {9, 4, 3}}) == std::vector<bool>{true, true, true});
}

TEST_CASE("slower algorithms: one that was not timed beats none") {
  std::vector<bool> is_timed{true, false, true};
  drop_slower({{9, 0, 2}, {9, 0, 3}}, is_timed);
  CHECK(is_timed == std::vector<bool>{true, false, true});
}
