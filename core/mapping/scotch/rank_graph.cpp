// SPDX-License-Identifier: Apache-2.0
// The traffic as a graph: each rank with the ranks it sends to or receives from.
#include "mapping/scotch/rank_graph.hpp"

#include <algorithm>

namespace fairlead {
namespace {

/// Sorts by rank and adds up entries of the same rank.
void merge(std::vector<Neighbour>& neighbours) {
  std::ranges::sort(neighbours, {}, &Neighbour::rank);
  std::size_t last = 0;
  for (std::size_t next = 1; next < neighbours.size(); ++next) {
    if (neighbours[next].rank == neighbours[last].rank) {
      neighbours[last].sent += neighbours[next].sent;
      neighbours[last].received += neighbours[next].received;
    } else {
      neighbours[++last] = neighbours[next];
    }
  }
  if (!neighbours.empty()) neighbours.resize(last + 1);
}

}  // namespace

RankGraph::RankGraph(const RankMatrix& traffic) {
  std::vector<std::vector<Neighbour>> neighbours_of_rank(traffic.num_ranks());
  traffic.for_each([&neighbours_of_rank](std::size_t src, std::size_t dst, double value) {
    if (src == dst) return;
    neighbours_of_rank[src].push_back({.rank = dst, .sent = value, .received = 0.0});
    neighbours_of_rank[dst].push_back({.rank = src, .sent = 0.0, .received = value});
  });
  first_.push_back(0);
  for (auto& neighbours : neighbours_of_rank) {
    merge(neighbours);
    neighbours_.insert(neighbours_.end(), neighbours.begin(), neighbours.end());
    first_.push_back(neighbours_.size());
  }
}

}  // namespace fairlead
