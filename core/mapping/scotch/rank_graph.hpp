// SPDX-License-Identifier: Apache-2.0
// The traffic as a graph: each rank with the ranks it sends to or receives from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// The traffic of one rank with another.
struct Neighbour {
  std::size_t rank;
  double sent;      ///< from this rank to `rank`
  double received;  ///< the other way
};

/// Undirected graph without loops, each edge stored at both ends, neighbours ascending.
class RankGraph {
 public:
  explicit RankGraph(const RankMatrix& traffic);

  [[nodiscard]] std::size_t num_ranks() const { return first_.size() - 1; }
  /// Number of edges, counted at both ends.
  [[nodiscard]] std::size_t num_arcs() const { return neighbours_.size(); }
  /// Arcs are numbered rank by rank.
  [[nodiscard]] std::size_t first_arc(std::size_t rank) const { return first_[rank]; }
  [[nodiscard]] std::span<const Neighbour> neighbours(std::size_t rank) const {
    return std::span(neighbours_).subspan(first_[rank], first_[rank + 1] - first_[rank]);
  }

 private:
  std::vector<std::size_t> first_;  // length T + 1
  std::vector<Neighbour> neighbours_;
};

}  // namespace fairlead
