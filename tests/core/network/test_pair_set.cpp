// SPDX-License-Identifier: Apache-2.0
// A chosen part of the pairs, put into rounds.
#include "fairlead/network/pair_set.hpp"

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "catch.hpp"

using fairlead::Meeting;
using fairlead::PairSet;
using fairlead::Tournament;

namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs every_third() {
  Pairs pairs;
  int index = 0;
  for (int low = 0; low < 20; ++low) {
    for (int high = low + 1; high < 20; ++high) {
      if (index++ % 3 == 0) pairs.emplace_back(low, high);
    }
  }
  return pairs;
}

}  // namespace

TEST_CASE("pair set: holds the pairs that it was given and no other") {
  const PairSet pairs(Pairs{{0, 1}, {2, 3}}, 4);

  REQUIRE(pairs.contains(0, 1));
  REQUIRE(pairs.contains(2, 3));
  for (const auto& [low, high] : {std::pair{0, 2}, {0, 3}, {1, 2}, {1, 3}}) {
    REQUIRE_FALSE(pairs.contains(low, high));
  }
  REQUIRE(PairSet(Pairs{}, 1).select(Tournament(1).meetings()).empty());
}

TEST_CASE("pair set: what is no pair of two players is refused") {
  for (const auto& [low, high] : {std::pair{-1, 1}, {1, 1}, {2, 1}, {0, 4}}) {
    REQUIRE_THROWS_AS(PairSet(Pairs{{low, high}}, 4), std::invalid_argument);
  }
}

TEST_CASE("pair set: a selection holds the chosen meetings in the order of the tournament") {
  const PairSet pairs(every_third(), 20);
  const auto all = Tournament(20).meetings();

  const auto kept = pairs.select(all);

  REQUIRE(kept.size() == 64);
  std::size_t next = 0;
  for (const Meeting& meeting : all) {
    if (!pairs.contains(meeting.low, meeting.high)) continue;
    REQUIRE(kept[next].low == meeting.low);
    REQUIRE(kept[next].high == meeting.high);
    ++next;
  }
}

TEST_CASE("close ranks: no player is in two meetings of a round, and no meeting is lost") {
  const auto kept = PairSet(every_third(), 20).select(Tournament(20).meetings());

  const auto closed = fairlead::close_ranks(kept, 20);

  std::set<std::pair<int, int>> seen;
  std::set<std::pair<int, int>> pairs;
  for (const Meeting& meeting : closed) {
    REQUIRE(seen.insert({meeting.round, meeting.low}).second);
    REQUIRE(seen.insert({meeting.round, meeting.high}).second);
    pairs.insert({meeting.low, meeting.high});
  }
  REQUIRE(pairs.size() == kept.size());
}

TEST_CASE("close ranks: a star needs one round per meeting, disjoint pairs need one in all") {
  const auto star = fairlead::close_ranks({{3, 0, 1}, {5, 0, 2}, {9, 0, 3}}, 4);
  const auto apart = fairlead::close_ranks({{3, 0, 1}, {5, 2, 3}}, 4);

  REQUIRE(star.back().round == 2);
  REQUIRE(apart.back().round == 0);
}

TEST_CASE("close ranks: a whole tournament stays as it is") {
  const auto all = Tournament(12).meetings();
  const auto closed = fairlead::close_ranks(all, 12);
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(closed[i].round == all[i].round);
    REQUIRE(closed[i].low == all[i].low);
  }
}
