// SPDX-License-Identifier: Apache-2.0
// Round-robin tournament: the pairs that measure with each other, and their order.
#pragma once

#include <cassert>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace fairlead {

/// One meeting of two players, `low < high`.
struct Meeting {
  int round;
  int low;
  int high;
};

/// Round-robin tournament by the circle method: every two players meet once, and within a round
/// no player is in two meetings. One player keeps its seat while the others rotate around the
/// table.
/// Source: E. Lucas, Recreations mathematiques, vol. 2 (1883); CMPI, section 3.1, measures N / 2
/// pairs in each of N iterations.
class Tournament {
 public:
  /// @param num_players at least 1.
  /// @throws std::invalid_argument otherwise.
  explicit Tournament(int num_players) : num_players_(num_players) {
    if (num_players < 1) {
      throw std::invalid_argument("tournament: at least one player is needed, got " +
                                  std::to_string(num_players));
    }
  }

  [[nodiscard]] int num_players() const { return num_players_; }

  /// n - 1 rounds for an even number of players n, n for an odd one (each sits out once).
  [[nodiscard]] int num_rounds() const { return num_players_ == 1 ? 0 : num_seats() - 1; }

  [[nodiscard]] long num_meetings() const {
    return static_cast<long>(num_players_) * (num_players_ - 1) / 2;
  }

  /// The largest number of meetings in one round.
  [[nodiscard]] int meetings_per_round() const { return num_players_ / 2; }

  /// The opponent of `player` in `round`, or nothing where it sits out.
  [[nodiscard]] std::optional<int> opponent(int player, int round) const {
    assert(player >= 0 && player < num_players_ && round >= 0 && round < num_rounds());
    const int turning = num_seats() - 1;
    // Rotating players i and j meet if i + j = round (mod turning). A player that would meet itself
    // meets the fixed player; num_seats / 2 is the inverse of 2 modulo `turning`.
    int opponent = 0;
    if (player == turning) {
      opponent = static_cast<int>(static_cast<long>(round) * (num_seats() / 2) % turning);
    } else {
      opponent = (round - player + turning) % turning;
      if (opponent == player) opponent = turning;
    }
    if (opponent >= num_players_) return std::nullopt;
    return opponent;
  }

  /// All meetings if disjoint ones are held at the same time: by round, then by lower player.
  [[nodiscard]] std::vector<Meeting> meetings() const {
    std::vector<Meeting> all;
    all.reserve(static_cast<std::size_t>(num_meetings()));
    for (int round = 0; round < num_rounds(); ++round) {
      for (int player = 0; player < num_players_; ++player) {
        const auto other = opponent(player, round);
        if (other && player < *other) all.push_back({round, player, *other});
      }
    }
    return all;
  }

  /// All meetings if one is held at a time: by lower player, which then continues from one meeting
  /// to the next without a message to another player. Each meeting counts as a round.
  [[nodiscard]] std::vector<Meeting> meetings_one_by_one() const {
    std::vector<Meeting> all;
    all.reserve(static_cast<std::size_t>(num_meetings()));
    for (int low = 0; low < num_players_; ++low) {
      for (int high = low + 1; high < num_players_; ++high) {
        all.push_back({static_cast<int>(all.size()), low, high});
      }
    }
    return all;
  }

 private:
  // An odd number of players gets an empty seat; a player that meets it sits out.
  [[nodiscard]] int num_seats() const { return num_players_ + num_players_ % 2; }

  int num_players_;
};

}  // namespace fairlead
