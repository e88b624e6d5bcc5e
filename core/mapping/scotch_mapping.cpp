// SPDX-License-Identifier: Apache-2.0
// Placements by Scotch's recursive bipartitioning, as CloudMap section VI uses it.
#include "fairlead/scotch_mapping.hpp"

#include <algorithm>
#include <numeric>

#include "integer_scale.hpp"
#include "packing.hpp"
#include "rank_graph.hpp"
#include "repair.hpp"
#include "scotch_library.hpp"

namespace fairlead {
namespace {

using Placement = std::vector<std::int64_t>;

/// Hosts with at least one slot; a vertex of an architecture must weigh something.
std::vector<std::size_t> hosts_with_slots(std::span<const std::int64_t> slots) {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    if (slots[host] > 0) hosts.push_back(host);
  }
  return hosts;
}

scotch::Graph graph_of_ranks(const RankGraph& graph, const std::vector<std::int32_t>& weights) {
  std::vector<SCOTCH_Num> first_arc{0}, ends;
  for (std::size_t rank = 0; rank < graph.num_ranks(); ++rank) {
    for (const Neighbour& neighbour : graph.neighbours(rank)) {
      ends.push_back(static_cast<SCOTCH_Num>(neighbour.rank));
    }
    first_arc.push_back(static_cast<SCOTCH_Num>(ends.size()));
  }
  return {std::vector<SCOTCH_Num>(graph.num_ranks(), 1), std::move(first_arc), std::move(ends),
          std::vector<SCOTCH_Num>(weights.begin(), weights.end())};
}

/// Complete graph of some hosts, weighted by slots and by distance: in a Scotch architecture a
/// heavier edge is a longer way.
scotch::Graph graph_of_hosts(const std::vector<std::size_t>& hosts,
                             std::span<const std::int64_t> slots,
                             const std::vector<std::int32_t>& distances) {
  std::vector<SCOTCH_Num> host_slots, first_arc{0}, ends, edge_distances;
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    host_slots.push_back(static_cast<SCOTCH_Num>(slots[hosts[a]]));
    for (std::size_t b = 0; b < hosts.size(); ++b) {
      if (a == b) continue;
      ends.push_back(static_cast<SCOTCH_Num>(b));
      edge_distances.push_back(distances[hosts[a] * slots.size() + hosts[b]]);
    }
    first_arc.push_back(static_cast<SCOTCH_Num>(ends.size()));
  }
  return {std::move(host_slots), std::move(first_arc), std::move(ends), std::move(edge_distances)};
}

/// The placement that the launcher would make: hosts filled one after the other.
Placement filled(std::span<const std::int64_t> slots, std::size_t num_ranks) {
  Placement host_of_rank;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    const auto room = static_cast<std::int64_t>(num_ranks - host_of_rank.size());
    host_of_rank.insert(host_of_rank.end(), static_cast<std::size_t>(std::min(slots[host], room)),
                        static_cast<std::int64_t>(host));
  }
  return host_of_rank;
}

/// Asks Scotch `num_tries` times for placements within these slots, and appends them.
void append_placements(const RankGraph& graph, const HostMatrix& cost,
                       std::span<const std::int64_t> slots, const IntegerProblem& problem,
                       const ScotchOptions& options, std::vector<Placement>& placements) {
  const std::vector<std::size_t> hosts = hosts_with_slots(slots);
  if (graph.num_arcs() == 0 || hosts.size() == 1) {
    placements.push_back(filled(slots, graph.num_ranks()));  // nothing to choose
    return;
  }
  const scotch::Session session;
  session.restart_random(options.seed);
  scotch::Graph host_graph = graph_of_hosts(hosts, slots, problem.distances);
  scotch::Graph rank_graph = graph_of_ranks(graph, problem.weights);
  scotch::Architecture architecture(host_graph);
  scotch::Strategy strategy(hosts.size());
  for (int attempt = 0; attempt < options.num_tries; ++attempt) {
    session.restart_random(options.seed + static_cast<std::uint32_t>(attempt));
    Placement host_of_rank = scotch::map(rank_graph, architecture, strategy);
    for (std::int64_t& host : host_of_rank) {
      host = static_cast<std::int64_t>(hosts[static_cast<std::size_t>(host)]);
    }
    repair_capacity(graph, cost, slots, host_of_rank);
    placements.push_back(std::move(host_of_rank));
  }
}

}  // namespace

std::vector<Placement> scotch_placements(const RankMatrix& traffic, const HostMatrix& cost,
                                         std::span<const std::int64_t> slots,
                                         const ScotchOptions& options) {
  const RankGraph graph(traffic);
  const IntegerProblem problem = scale_to_integers(graph, cost);
  const auto num_ranks = static_cast<std::int64_t>(graph.num_ranks());

  std::vector<Placement> placements;
  append_placements(graph, cost, slots, problem, options, placements);
  if (num_ranks < std::accumulate(slots.begin(), slots.end(), std::int64_t{0})) {
    const std::vector<std::int64_t> packed = packed_slots(cost, slots, num_ranks);
    append_placements(graph, cost, packed, problem, options, placements);
  }
  return placements;
}

}  // namespace fairlead
