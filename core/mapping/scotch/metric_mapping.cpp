// SPDX-License-Identifier: Apache-2.0
// Tasks on cores by a metric of the network: one call of Scotch, as ORACLE section III-D uses it.
#include "fairlead/mapping/metric_mapping.hpp"

#include <numeric>

#include "mapping/scotch/integer_scale.hpp"
#include "mapping/scotch/rank_graph.hpp"
#include "mapping/scotch/repair.hpp"
#include "mapping/scotch/scotch_library.hpp"

namespace fairlead {
namespace {

/// Finer than any metric: hops are below 100, percents at most 100.
constexpr double kLargestWeight = 1000.0;

scotch::Graph graph_of_tasks(scotch::Context& context, const RankGraph& tasks,
                             const std::vector<std::int32_t>& weights) {
  std::vector<SCOTCH_Num> first_arc{0}, ends;
  for (std::size_t task = 0; task < tasks.num_ranks(); ++task) {
    for (const Neighbour& neighbour : tasks.neighbours(task)) {
      ends.push_back(static_cast<SCOTCH_Num>(neighbour.rank));
    }
    first_arc.push_back(static_cast<SCOTCH_Num>(ends.size()));
  }
  return {context, std::vector<SCOTCH_Num>(tasks.num_ranks(), 1), std::move(first_arc),
          std::move(ends), std::vector<SCOTCH_Num>(weights.begin(), weights.end())};
}

/// The machine graph: complete, a vertex for each core.
scotch::Graph graph_of_cores(scotch::Context& context, std::size_t num_cores,
                             const std::vector<std::int32_t>& weights) {
  std::vector<SCOTCH_Num> first_arc{0}, ends, edge_weights;
  for (std::size_t a = 0; a < num_cores; ++a) {
    for (std::size_t b = 0; b < num_cores; ++b) {
      if (a == b) continue;
      ends.push_back(static_cast<SCOTCH_Num>(b));
      edge_weights.push_back(weights[a * num_cores + b]);
    }
    first_arc.push_back(static_cast<SCOTCH_Num>(ends.size()));
  }
  return {context, std::vector<SCOTCH_Num>(num_cores, 1), std::move(first_arc), std::move(ends),
          std::move(edge_weights)};
}

}  // namespace

std::vector<std::int64_t> scotch_metric_mapping(const RankMatrix& traffic, const HostMatrix& weight,
                                                std::uint32_t seed) {
  const RankGraph graph(traffic);
  const std::size_t num_cores = weight.num_hosts;
  std::vector<std::int64_t> core_of_task(graph.num_ranks());
  std::iota(core_of_task.begin(), core_of_task.end(), std::int64_t{0});
  if (graph.num_arcs() == 0 || num_cores == 1) return core_of_task;  // nothing to choose
  const IntegerProblem scaled = scale_to_integers(graph, weight, kLargestWeight);
  {
    scotch::Context context;
    scotch::Strategy strategy(scotch::Strategy::Settings::by_default, num_cores);
    context.restart_random(seed);
    scotch::Graph tasks = graph_of_tasks(context, graph, scaled.weights);
    scotch::Graph cores = graph_of_cores(context, num_cores, scaled.distances);
    scotch::Architecture machine(cores);
    core_of_task = scotch::map(tasks, machine, strategy);
  }
  const std::vector<std::int64_t> slots(num_cores, 1);
  repair_capacity(graph, weight, slots, core_of_task);
  return core_of_task;
}

}  // namespace fairlead
