// SPDX-License-Identifier: Apache-2.0
// Traffic and costs as the small integers that Scotch computes with.
#include "mapping/scotch/integer_scale.hpp"

#include <algorithm>
#include <cmath>

namespace fairlead {
namespace {

/// Distances for which both sums stay below kLargestSum: weights * distances over the arcs of the
/// traffic, with as much room for the weights as for the distances, and distances over the arcs
/// of the hosts' complete graph, which Scotch splits first.
double affordable_distance(double num_arcs, double num_hosts, double largest_distance) {
  const double for_traffic = std::sqrt(kLargestSum / num_arcs);
  const double for_hosts = kLargestSum / (num_hosts * num_hosts);
  return std::max(1.0, std::floor(std::min({largest_distance, for_traffic, for_hosts})));
}

std::vector<std::int32_t> scaled_distances(const HostMatrix& cost, double largest_distance) {
  const std::size_t num_hosts = cost.num_hosts;
  std::vector<double> extra(num_hosts * num_hosts, 0.0);
  for (std::size_t a = 0; a < num_hosts; ++a) {
    for (std::size_t b = 0; b < num_hosts; ++b) {
      const double own = (cost(a, a) + cost(b, b)) / 2;
      if (a != b) extra[a * num_hosts + b] = std::max(0.0, (cost(a, b) + cost(b, a)) / 2 - own);
    }
  }
  const double largest_extra = *std::ranges::max_element(extra);
  std::vector<std::int32_t> distances(extra.size(), 0);
  for (std::size_t pair = 0; pair < extra.size(); ++pair) {
    if (pair % (num_hosts + 1) == 0) continue;  // the diagonal
    const double ratio = largest_extra > 0.0 ? extra[pair] / largest_extra : 0.0;
    distances[pair] = std::max(1, static_cast<std::int32_t>(std::lround(ratio * largest_distance)));
  }
  return distances;
}

std::vector<std::int32_t> scaled_weights(const RankGraph& graph, double largest_distance) {
  double sum = 0.0;
  for (std::size_t rank = 0; rank < graph.num_ranks(); ++rank) {
    for (const Neighbour& neighbour : graph.neighbours(rank)) {
      sum += neighbour.sent + neighbour.received;
    }
  }
  // Every arc may be rounded up to 1, so these are subtracted before the rest is divided.
  const double room = kLargestSum / largest_distance - static_cast<double>(graph.num_arcs());
  std::vector<std::int32_t> weights;
  weights.reserve(graph.num_arcs());
  for (std::size_t rank = 0; rank < graph.num_ranks(); ++rank) {
    for (const Neighbour& neighbour : graph.neighbours(rank)) {
      const double share = (neighbour.sent + neighbour.received) / sum;
      weights.push_back(1 + static_cast<std::int32_t>(std::max(0.0, share * room)));
    }
  }
  return weights;
}

}  // namespace

IntegerProblem scale_to_integers(const RankGraph& graph, const HostMatrix& cost,
                                 double largest_distance) {
  const double affordable = affordable_distance(
      static_cast<double>(graph.num_arcs()), static_cast<double>(cost.num_hosts), largest_distance);
  return {.weights = scaled_weights(graph, affordable),
          .distances = scaled_distances(cost, affordable)};
}

}  // namespace fairlead
