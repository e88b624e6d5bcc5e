// SPDX-License-Identifier: Apache-2.0
// A chosen part of all pairs, and the order of its meetings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/network/tournament.hpp"

namespace fairlead {

/// A set of unordered pairs of players.
class PairSet {
 public:
  /// @param pairs the lower player first.
  /// @param num_players at least 1.
  /// @throws std::invalid_argument where one is no pair of two of the players.
  PairSet(const std::vector<std::pair<int, int>>& pairs, int num_players)
      : num_players_(num_players),
        is_chosen_(place(std::max(0, num_players - 2), num_players - 1) + 1) {
    for (const auto& [low, high] : pairs) {
      if (low < 0 || low >= high || high >= num_players) {
        throw std::invalid_argument("pairs: " + std::to_string(low) + " and " +
                                    std::to_string(high) + " are no pair of " +
                                    std::to_string(num_players) + " players");
      }
      is_chosen_[place(low, high)] = true;
    }
  }

  /// @pre 0 <= low < high < number of players.
  [[nodiscard]] bool contains(int low, int high) const { return is_chosen_[place(low, high)]; }

  /// Those of the meetings whose pair is in the set, in the same order.
  [[nodiscard]] std::vector<Meeting> select(const std::vector<Meeting>& meetings) const {
    std::vector<Meeting> kept;
    for (const Meeting& meeting : meetings) {
      if (contains(meeting.low, meeting.high)) kept.push_back(meeting);
    }
    return kept;
  }

 private:
  [[nodiscard]] std::size_t place(int low, int high) const {
    const auto n = static_cast<std::size_t>(num_players_);
    const auto i = static_cast<std::size_t>(low);
    return i * n - i * (i + 1) / 2 + static_cast<std::size_t>(high) - i - 1;
  }

  int num_players_;
  std::vector<bool> is_chosen_;  // by lower, then by higher player
};

/// Moves each meeting to the earliest round in which both players are free. Rounds that lost most
/// of their meetings to a selection are filled up, and each player keeps its order of opponents.
/// @return the meetings by round, then by lower player.
inline std::vector<Meeting> close_ranks(std::vector<Meeting> meetings, int num_players) {
  std::vector<int> free_from(static_cast<std::size_t>(num_players), 0);
  for (Meeting& meeting : meetings) {
    int& low = free_from[static_cast<std::size_t>(meeting.low)];
    int& high = free_from[static_cast<std::size_t>(meeting.high)];
    meeting.round = std::max(low, high);
    low = high = meeting.round + 1;
  }
  std::stable_sort(meetings.begin(), meetings.end(), [](const Meeting& a, const Meeting& b) {
    return a.round != b.round ? a.round < b.round : a.low < b.low;
  });
  return meetings;
}

}  // namespace fairlead
