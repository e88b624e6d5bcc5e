// SPDX-License-Identifier: Apache-2.0
// Makes any placement fit the slots.
#include "mapping/scotch/repair.hpp"

#include <limits>
#include <vector>

namespace fairlead {
namespace {

struct Move {
  std::size_t rank = 0;
  std::size_t host = 0;
  double added_cost = std::numeric_limits<double>::infinity();
};

/// Cost of the traffic of `rank` if it ran on `host` and all others stayed.
double cost_on(std::size_t host, std::size_t rank, const RankGraph& graph, const HostMatrix& cost,
               std::span<const std::int64_t> host_of_rank) {
  double sum = 0.0;
  for (const Neighbour& neighbour : graph.neighbours(rank)) {
    const auto peer = static_cast<std::size_t>(host_of_rank[neighbour.rank]);
    sum += neighbour.sent * cost(host, peer) + neighbour.received * cost(peer, host);
  }
  return sum;
}

Move cheapest_move(const RankGraph& graph, const HostMatrix& cost,
                   std::span<const std::int64_t> host_of_rank,
                   std::span<const std::int64_t> room_of_host) {
  Move best;
  for (std::size_t rank = 0; rank < graph.num_ranks(); ++rank) {
    const auto from = static_cast<std::size_t>(host_of_rank[rank]);
    if (room_of_host[from] >= 0) continue;
    const double cost_now = cost_on(from, rank, graph, cost, host_of_rank);
    for (std::size_t host = 0; host < room_of_host.size(); ++host) {
      if (room_of_host[host] <= 0) continue;
      const double added = cost_on(host, rank, graph, cost, host_of_rank) - cost_now;
      if (added < best.added_cost) best = {.rank = rank, .host = host, .added_cost = added};
    }
  }
  return best;
}

}  // namespace

void repair_capacity(const RankGraph& graph, const HostMatrix& cost,
                     std::span<const std::int64_t> slots, std::span<std::int64_t> host_of_rank) {
  std::vector<std::int64_t> room_of_host(slots.begin(), slots.end());
  for (const std::int64_t host : host_of_rank) --room_of_host[static_cast<std::size_t>(host)];
  std::int64_t num_surplus = 0;
  for (const std::int64_t room : room_of_host) num_surplus += room < 0 ? -room : 0;

  for (; num_surplus > 0; --num_surplus) {
    const Move move = cheapest_move(graph, cost, host_of_rank, room_of_host);
    ++room_of_host[static_cast<std::size_t>(host_of_rank[move.rank])];
    --room_of_host[move.host];
    host_of_rank[move.rank] = static_cast<std::int64_t>(move.host);
  }
}

}  // namespace fairlead
