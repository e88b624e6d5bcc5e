// SPDX-License-Identifier: Apache-2.0
// In which order hosts stand on a ring, or in rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/links.hpp"

namespace fairlead::collectives {

/// A ring that crosses slow pairs and shared groups as rarely as possible, then of little latency.
/// @param island_of_host  islands_of(), length H
/// @param part_bytes  of one message
/// @param num_messages  that pass each edge: a slow one costs as many times what it is slower
[[nodiscard]] std::vector<std::int32_t> ring_order(const Links& links,
                                                   std::span<const std::int32_t> island_of_host,
                                                   double part_bytes, double num_messages);

/// Who exchanges with whom in rounds, by positions.
enum class Rounds : std::uint8_t {
  doubling,       ///< position p with p XOR 1, 2, 4, ...
  dissemination,  ///< position p to p + 1, 2, 4, ...
  bruck,          ///< position p to p - 1, 2, 4, ..., twice as much in each round
  bruck_back,     ///< the same backwards: position p to p + ..., 4, 2, 1, half as much each time
};

/// An order in which rounds are short: from `start`, hosts change places as long as that helps.
[[nodiscard]] std::vector<std::int32_t> rounds_order(const Links& links, Rounds rounds,
                                                     double num_bytes,
                                                     std::vector<std::int32_t> start);

}  // namespace fairlead::collectives
