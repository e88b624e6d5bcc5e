// SPDX-License-Identifier: Apache-2.0
// A chosen part of all pairs: its form as text, and the order of its meetings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/network/tournament.hpp"

namespace fairlead {

/// A set of unordered pairs of players. As text it is one bit per pair, ordered by lower and then
/// by higher player, six bits to a letter of base64url without padding (RFC 4648, section 5), the
/// first pair in the highest bit: 1024 players take 87 kB, however many pairs are in the set.
class PairSet {
 public:
  /// @param num_players at least 1.
  /// @throws std::invalid_argument where the text has another length or another letter.
  PairSet(std::string_view text, int num_players) : num_players_(num_players) {
    const std::size_t num_pairs = place(num_players - 1, num_players);
    const std::size_t num_letters = (num_pairs + kBitsPerLetter - 1) / kBitsPerLetter;
    if (text.size() != num_letters) {
      throw std::invalid_argument("pairs of " + std::to_string(num_players) +
                                  " players: expected " + std::to_string(num_letters) +
                                  " letters, got " + std::to_string(text.size()));
    }
    values_.reserve(num_letters);
    for (const char letter : text) {
      const std::size_t value = kAlphabet.find(letter);
      if (value == std::string_view::npos) {
        throw std::invalid_argument("pairs: unknown letter '" + std::string(1, letter) + "'");
      }
      values_.push_back(static_cast<std::uint8_t>(value));
    }
  }

  /// @pre 0 <= low < high < number of players.
  [[nodiscard]] bool contains(int low, int high) const {
    const std::size_t bit = place(low, high);
    const int value = values_[bit / kBitsPerLetter];
    return (value >> (kBitsPerLetter - 1 - bit % kBitsPerLetter) & 1) != 0;
  }

  /// Those of the meetings whose pair is in the set, in the same order.
  [[nodiscard]] std::vector<Meeting> select(const std::vector<Meeting>& meetings) const {
    std::vector<Meeting> kept;
    for (const Meeting& meeting : meetings) {
      if (contains(meeting.low, meeting.high)) kept.push_back(meeting);
    }
    return kept;
  }

 private:
  static constexpr std::size_t kBitsPerLetter = 6;
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  [[nodiscard]] std::size_t place(int low, int high) const {
    const auto n = static_cast<std::size_t>(num_players_);
    const auto i = static_cast<std::size_t>(low);
    return i * n - i * (i + 1) / 2 + static_cast<std::size_t>(high) - i - 1;
  }

  int num_players_;
  std::vector<std::uint8_t> values_;
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
