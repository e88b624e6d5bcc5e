// SPDX-License-Identifier: Apache-2.0
// The tournament's promises, checked for every number of players from 1 to 64.
#include "fairlead/network/tournament.hpp"

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "catch.hpp"

using fairlead::Meeting;
using fairlead::Tournament;

namespace {

constexpr int kMostPlayers = 64;

}  // namespace

TEST_CASE("tournament: every pair meets exactly once") {
  for (int num_players = 1; num_players <= kMostPlayers; ++num_players) {
    std::multiset<std::pair<int, int>> met;
    for (const Meeting& meeting : Tournament(num_players).meetings()) {
      met.insert({meeting.low, meeting.high});
    }

    std::multiset<std::pair<int, int>> all;
    for (int low = 0; low < num_players; ++low) {
      for (int high = low + 1; high < num_players; ++high) all.insert({low, high});
    }
    REQUIRE(met == all);
  }
}

TEST_CASE("tournament: one by one, the same pairs meet, and each leader in one row") {
  for (int num_players = 1; num_players <= kMostPlayers; ++num_players) {
    const Tournament tournament(num_players);
    std::set<std::pair<int, int>> met;
    for (const Meeting& meeting : tournament.meetings()) met.insert({meeting.low, meeting.high});
    std::vector<std::pair<int, int>> in_order;
    for (const Meeting& meeting : tournament.meetings_one_by_one()) {
      REQUIRE(meeting.round == static_cast<int>(in_order.size()));
      in_order.emplace_back(meeting.low, meeting.high);
    }

    REQUIRE(in_order == std::vector<std::pair<int, int>>(met.begin(), met.end()));
  }
}

TEST_CASE("tournament: no player is in two meetings of a round") {
  for (int num_players = 1; num_players <= kMostPlayers; ++num_players) {
    std::set<std::pair<int, int>> seen;
    for (const Meeting& meeting : Tournament(num_players).meetings()) {
      REQUIRE(seen.insert({meeting.round, meeting.low}).second);
      REQUIRE(seen.insert({meeting.round, meeting.high}).second);
    }
  }
}

TEST_CASE("tournament: n players need n - 1 rounds, or n when n is odd") {
  for (int num_players = 2; num_players <= kMostPlayers; ++num_players) {
    const int expected = num_players % 2 == 0 ? num_players - 1 : num_players;
    REQUIRE(Tournament(num_players).num_rounds() == expected);
  }
  REQUIRE(Tournament(1).num_rounds() == 0);
}

TEST_CASE("tournament: opponents are each other's opponents, and agree with the list") {
  for (int num_players = 2; num_players <= kMostPlayers; ++num_players) {
    const Tournament tournament(num_players);
    const auto meetings = tournament.meetings();
    REQUIRE(static_cast<long>(meetings.size()) == tournament.num_meetings());
    for (const Meeting& meeting : meetings) {
      REQUIRE(tournament.opponent(meeting.low, meeting.round) == meeting.high);
      REQUIRE(tournament.opponent(meeting.high, meeting.round) == meeting.low);
    }
  }
}

TEST_CASE("tournament: with an odd number each player sits out once") {
  for (int num_players = 3; num_players <= kMostPlayers; num_players += 2) {
    const Tournament tournament(num_players);
    for (int player = 0; player < num_players; ++player) {
      int pauses = 0;
      for (int round = 0; round < tournament.num_rounds(); ++round) {
        if (!tournament.opponent(player, round)) ++pauses;
      }
      REQUIRE(pauses == 1);
    }
  }
}

TEST_CASE("tournament: meetings come in the order of rounds") {
  for (const int num_players : {2, 7, 32, 63}) {
    int round = 0;
    for (const Meeting& meeting : Tournament(num_players).meetings()) {
      REQUIRE(meeting.round >= round);
      round = meeting.round;
    }
  }
}

TEST_CASE("tournament: zero players are refused") {
  REQUIRE_THROWS_AS(Tournament(0), std::invalid_argument);
  REQUIRE_THROWS_AS(Tournament(-3), std::invalid_argument);
}
