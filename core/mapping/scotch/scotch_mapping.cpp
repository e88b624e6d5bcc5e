// SPDX-License-Identifier: Apache-2.0
// Placements by Scotch's recursive bipartitioning: CloudMap's mapping (section IV-C), and ours.
#include "fairlead/mapping/scotch_mapping.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "mapping/scotch/integer_scale.hpp"
#include "mapping/scotch/packing.hpp"
#include "mapping/scotch/rank_graph.hpp"
#include "mapping/scotch/repair.hpp"
#include "mapping/scotch/scotch_library.hpp"

namespace fairlead {
namespace {

using Placement = std::vector<std::int64_t>;

/// Hosts with at least one slot; a vertex of an architecture must have a weight above 0.
std::vector<std::size_t> hosts_with_slots(std::span<const std::int64_t> slots) {
  std::vector<std::size_t> hosts;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    if (slots[host] > 0) hosts.push_back(host);
  }
  return hosts;
}

/// The ranks as vertices, in the order given.
scotch::Graph graph_of_ranks(scotch::Context& context, const RankGraph& graph,
                             const std::vector<std::int32_t>& weights,
                             const std::vector<std::size_t>& rank_of_vertex) {
  std::vector<std::size_t> vertex_of_rank(graph.num_ranks());
  for (std::size_t vertex = 0; vertex < graph.num_ranks(); ++vertex) {
    vertex_of_rank[rank_of_vertex[vertex]] = vertex;
  }
  std::vector<SCOTCH_Num> first_arc{0}, ends, arc_weights;
  for (const std::size_t rank : rank_of_vertex) {
    std::size_t arc = graph.first_arc(rank);
    for (const Neighbour& neighbour : graph.neighbours(rank)) {
      ends.push_back(static_cast<SCOTCH_Num>(vertex_of_rank[neighbour.rank]));
      arc_weights.push_back(weights[arc++]);
    }
    first_arc.push_back(static_cast<SCOTCH_Num>(ends.size()));
  }
  return {context, std::vector<SCOTCH_Num>(graph.num_ranks(), 1), std::move(first_arc),
          std::move(ends), std::move(arc_weights)};
}

/// Complete graph of some hosts, weighted by slots and by distance: in a Scotch architecture a
/// heavier edge is a larger distance.
scotch::Graph graph_of_hosts(scotch::Context& context, const std::vector<std::size_t>& hosts,
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
  return {context, std::move(host_slots), std::move(first_arc), std::move(ends),
          std::move(edge_distances)};
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

/// Appends `num_tries` placements by Scotch within these slots.
void append_placements(const RankGraph& graph, const HostMatrix& cost,
                       std::span<const std::int64_t> slots, const IntegerProblem& problem,
                       const ScotchOptions& options, std::vector<Placement>& placements) {
  std::vector<std::size_t> hosts = hosts_with_slots(slots);
  if (graph.num_arcs() == 0 || hosts.size() == 1) {
    placements.push_back(filled(slots, graph.num_ranks()));  // nothing to choose
    return;
  }
  std::vector<std::size_t> rank_of_vertex(graph.num_ranks());
  std::iota(rank_of_vertex.begin(), rank_of_vertex.end(), std::size_t{0});
  scotch::Context context;
  using enum scotch::Strategy::Settings;
  scotch::Strategy strategy(options.is_as_published ? recursive_bipartitioning : for_small_graphs,
                            hosts.size());
  std::mt19937 random(options.seed);
  for (int attempt = 0; attempt < options.num_tries; ++attempt) {
    // Another order of hosts and ranks changes what Scotch finds more than another seed does.
    if (attempt > 0) {
      std::ranges::shuffle(hosts, random);
      std::ranges::shuffle(rank_of_vertex, random);
    }
    context.restart_random(static_cast<std::uint32_t>(random()));
    scotch::Graph host_graph = graph_of_hosts(context, hosts, slots, problem.distances);
    scotch::Graph rank_graph = graph_of_ranks(context, graph, problem.weights, rank_of_vertex);
    scotch::Architecture architecture(host_graph);
    const std::vector<std::int64_t> domain_of_vertex =
        scotch::map(rank_graph, architecture, strategy);
    Placement host_of_rank(graph.num_ranks());
    for (std::size_t vertex = 0; vertex < domain_of_vertex.size(); ++vertex) {
      const auto domain = static_cast<std::size_t>(domain_of_vertex[vertex]);
      host_of_rank[rank_of_vertex[vertex]] = static_cast<std::int64_t>(hosts[domain]);
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
  const IntegerProblem problem = scale_to_integers(graph, cost, options.largest_distance);
  const auto num_ranks = static_cast<std::int64_t>(graph.num_ranks());

  std::vector<Placement> placements;
  append_placements(graph, cost, slots, problem, options, placements);
  const bool has_room = num_ranks < std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
  if (has_room && !options.is_as_published) {
    const std::vector<std::int64_t> packed = packed_slots(cost, slots, num_ranks);
    append_placements(graph, cost, packed, problem, options, placements);
  }
  return placements;
}

}  // namespace fairlead
