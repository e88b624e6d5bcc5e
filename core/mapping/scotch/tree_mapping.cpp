// SPDX-License-Identifier: Apache-2.0
// Placements on the cores of a cluster by Scotch, as SPREAD's baseline DRB makes them.
#include "fairlead/mapping/tree_mapping.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "mapping/scotch/integer_scale.hpp"
#include "mapping/scotch/rank_graph.hpp"
#include "mapping/scotch/repair.hpp"
#include "mapping/scotch/scotch_library.hpp"

namespace fairlead {
namespace {

/// Scotch's tree architecture, cut down to the leaves that are free.
class TreeArchitecture {
 public:
  TreeArchitecture(const CoreTree& tree, std::span<const std::int64_t> free_cores)
      : num_children_(tree.num_children.begin(), tree.num_children.end()),
        distances_(tree.distances.begin(), tree.distances.end()),
        leaves_(free_cores.begin(), free_cores.end()) {
    scotch::check(SCOTCH_archInit(&whole_), "start an architecture");
    scotch::check(SCOTCH_archInit(&free_), "start an architecture");
    scotch::check(SCOTCH_archTleaf(&whole_, static_cast<SCOTCH_Num>(num_children_.size()),
                                   num_children_.data(), distances_.data()),
                  "build a tree of cores");
    scotch::check(
        SCOTCH_archSub(&free_, &whole_, static_cast<SCOTCH_Num>(leaves_.size()), leaves_.data()),
        "take the free cores of a tree");
  }
  ~TreeArchitecture() {
    SCOTCH_archExit(&free_);
    SCOTCH_archExit(&whole_);
  }
  TreeArchitecture(const TreeArchitecture&) = delete;
  TreeArchitecture& operator=(const TreeArchitecture&) = delete;
  TreeArchitecture(TreeArchitecture&&) = delete;
  TreeArchitecture& operator=(TreeArchitecture&&) = delete;

  [[nodiscard]] SCOTCH_Arch* handle() { return &free_; }

 private:
  // Scotch refers to these.
  std::vector<SCOTCH_Num> num_children_, distances_, leaves_;
  SCOTCH_Arch whole_, free_;
};

/// Distance of each two free cores, rows first.
std::vector<double> distances_of_cores(const CoreTree& tree,
                                       std::span<const std::int64_t> free_cores) {
  const std::size_t num_cores = free_cores.size();
  std::vector<double> distances(num_cores * num_cores, 0.0);
  std::int64_t leaves_below = 1;
  for (std::size_t level = tree.num_children.size(); level-- > 0;) {
    // Leaves without a common ancestor further down meet here, or higher up.
    const std::int64_t leaves_here = leaves_below * tree.num_children[level];
    for (std::size_t a = 0; a < num_cores; ++a) {
      for (std::size_t b = 0; b < num_cores; ++b) {
        const bool meet_below = free_cores[a] / leaves_below == free_cores[b] / leaves_below;
        const bool meet_here = free_cores[a] / leaves_here == free_cores[b] / leaves_here;
        if (meet_here && !meet_below) {
          distances[a * num_cores + b] = static_cast<double>(tree.distances[level]);
        }
      }
    }
    leaves_below = leaves_here;
  }
  return distances;
}

scotch::Graph graph_of_ranks(scotch::Context& context, const RankGraph& graph,
                             const std::vector<std::int32_t>& weights) {
  std::vector<SCOTCH_Num> first_arc{0}, ends;
  for (std::size_t rank = 0; rank < graph.num_ranks(); ++rank) {
    for (const Neighbour& neighbour : graph.neighbours(rank)) {
      ends.push_back(static_cast<SCOTCH_Num>(neighbour.rank));
    }
    first_arc.push_back(static_cast<SCOTCH_Num>(ends.size()));
  }
  return {context, std::vector<SCOTCH_Num>(graph.num_ranks(), 1), std::move(first_arc),
          std::move(ends), std::vector<SCOTCH_Num>(weights.begin(), weights.end())};
}

/// Position in `free_cores` of each rank's core, as Scotch chose it.
std::vector<std::int64_t> mapped(const RankGraph& graph, const CoreTree& tree,
                                 std::span<const std::int64_t> free_cores,
                                 const std::vector<std::int32_t>& weights, std::uint32_t seed) {
  scotch::Context context;
  scotch::Strategy strategy(scotch::Strategy::Settings::for_small_graphs, free_cores.size());
  context.restart_random(seed);
  scotch::Graph ranks = graph_of_ranks(context, graph, weights);
  TreeArchitecture cores(tree, free_cores);
  std::vector<SCOTCH_Num> core_of_rank(graph.num_ranks(), 0);
  scotch::check(
      SCOTCH_graphMap(ranks.handle(), cores.handle(), strategy.handle(), core_of_rank.data()),
      "map ranks to cores");
  return {core_of_rank.begin(), core_of_rank.end()};
}

}  // namespace

std::vector<std::int64_t> scotch_tree_placement(const RankMatrix& traffic, const CoreTree& tree,
                                                std::span<const std::int64_t> free_cores,
                                                std::uint32_t seed) {
  const RankGraph graph(traffic);
  std::vector<std::int64_t> core_of_rank(graph.num_ranks());
  std::iota(core_of_rank.begin(), core_of_rank.end(), std::int64_t{0});
  if (graph.num_arcs() > 0) {
    const std::vector<double> distances = distances_of_cores(tree, free_cores);
    const HostMatrix cost{.num_hosts = free_cores.size(), .values = distances};
    const IntegerProblem problem =
        scale_to_integers(graph, cost, static_cast<double>(std::ranges::max(tree.distances)));
    core_of_rank = mapped(graph, tree, free_cores, problem.weights, seed);
    // Scotch balances within a tolerance, but a core holds one rank.
    const std::vector<std::int64_t> slots(free_cores.size(), 1);
    repair_capacity(graph, cost, slots, core_of_rank);
  }
  for (std::int64_t& core : core_of_rank) core = free_cores[static_cast<std::size_t>(core)];
  return core_of_rank;
}

}  // namespace fairlead
