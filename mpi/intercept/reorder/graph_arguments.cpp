// SPDX-License-Identifier: Apache-2.0
// Every array of a call is looked at once, before anything is sent.
#include "reorder/graph_arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fairlead::intercept {
namespace {

// Numbers of one rank that fit a message whose size in bytes is an int, with some to spare.
constexpr std::int64_t kMaxNumbers = std::numeric_limits<int>::max() / 16;

template <class Allowed>
bool all_are(const int* values, std::int64_t num_values, Allowed is_allowed) {
  if (num_values == 0) return true;
  return values != nullptr && std::all_of(values, values + num_values, is_allowed);
}

bool are_ranks(const int* values, std::int64_t num_values, int num_ranks) {
  return all_are(values, num_values, [=](int rank) { return 0 <= rank && rank < num_ranks; });
}

bool are_counts(const int* values, std::int64_t num_values) {
  return all_are(values, num_values, [](int count) { return count >= 0; });
}

// Weights that are there, one for each edge; or a mark that says there are none.
bool are_weights(const int* weights, std::int64_t num_edges, WeightMarks marks) {
  if (weights == marks.unweighted || num_edges == 0) return true;
  return weights != marks.empty && are_counts(weights, num_edges);
}

void append(Integers& packed, const int* values, std::int64_t num_values) {
  if (num_values > 0) packed.insert(packed.end(), values, values + num_values);
}

// Where weights that were packed begin; or the mark for their absence.
const int* weights_at(const Integers& packed, const int* place, int num_edges, WeightMarks marks) {
  if (!is_weighted(packed)) return marks.unweighted;
  return num_edges == 0 ? marks.empty : place;
}

std::int64_t sum_of(const int* values, std::int64_t num_values) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < num_values; ++i) sum += values[i];
  return sum;
}

}  // namespace

bool is_weighted(const Integers& packed) {
  return packed[0] != 0;
}

std::optional<Integers> GraphArguments::pack(int num_ranks, WeightMarks marks, int num_sources,
                                             const int* sources, const int* degrees,
                                             const int* destinations, const int* weights) {
  if (num_sources < 0 || !are_ranks(sources, num_sources, num_ranks)) return std::nullopt;
  if (!are_counts(degrees, num_sources)) return std::nullopt;
  const std::int64_t num_edges = sum_of(degrees, num_sources);
  if (num_sources + num_edges > kMaxNumbers) return std::nullopt;
  if (!are_ranks(destinations, num_edges, num_ranks)) return std::nullopt;
  if (!are_weights(weights, num_edges, marks)) return std::nullopt;
  const bool has_weights = weights != marks.unweighted;
  Integers packed{has_weights ? 1 : 0, num_sources};
  append(packed, sources, num_sources);
  append(packed, degrees, num_sources);
  append(packed, destinations, num_edges);
  if (has_weights) append(packed, weights, num_edges);
  return packed;
}

GraphArguments::GraphArguments(const Integers& packed, WeightMarks marks)
    : num_sources(packed[1]), sources(packed.data() + 2) {
  degrees = sources + num_sources;
  destinations = degrees + num_sources;
  const auto num_edges = static_cast<int>(sum_of(degrees, num_sources));
  weights = weights_at(packed, destinations + num_edges, num_edges, marks);
}

std::vector<RoleEdge> GraphArguments::edges(WeightMarks marks) const {
  std::vector<RoleEdge> edges;
  for (int i = 0; i < num_sources; ++i) {
    for (int k = 0; k < degrees[i]; ++k) {
      const std::size_t edge = edges.size();
      const int weight = weights == marks.unweighted ? 1 : weights[edge];
      edges.push_back({sources[i], destinations[edge], weight});
    }
  }
  return edges;
}

std::optional<Integers> AdjacentArguments::pack(int num_ranks, WeightMarks marks, int indegree,
                                                const int* sources, const int* source_weights,
                                                int outdegree, const int* destinations,
                                                const int* destination_weights) {
  if (indegree < 0 || outdegree < 0) return std::nullopt;
  if (std::int64_t{indegree} + outdegree > kMaxNumbers) return std::nullopt;
  if (!are_ranks(sources, indegree, num_ranks)) return std::nullopt;
  if (!are_ranks(destinations, outdegree, num_ranks)) return std::nullopt;
  if (!are_weights(source_weights, indegree, marks)) return std::nullopt;
  if (!are_weights(destination_weights, outdegree, marks)) return std::nullopt;
  const bool has_weights = source_weights != marks.unweighted;
  if (has_weights != (destination_weights != marks.unweighted)) return std::nullopt;
  Integers packed{has_weights ? 1 : 0, indegree, outdegree};
  append(packed, sources, indegree);
  append(packed, destinations, outdegree);
  if (has_weights) {
    append(packed, source_weights, indegree);
    append(packed, destination_weights, outdegree);
  }
  return packed;
}

AdjacentArguments::AdjacentArguments(const Integers& packed, WeightMarks marks)
    : indegree(packed[1]), outdegree(packed[2]), sources(packed.data() + 3) {
  destinations = sources + indegree;
  const int* const first_weight = destinations + outdegree;
  source_weights = weights_at(packed, first_weight, indegree, marks);
  destination_weights = weights_at(packed, first_weight + indegree, outdegree, marks);
}

std::vector<RoleEdge> AdjacentArguments::edges(int rank, WeightMarks marks) const {
  std::vector<RoleEdge> edges;
  for (int i = 0; i < outdegree; ++i) {
    const int weight = destination_weights == marks.unweighted ? 1 : destination_weights[i];
    edges.push_back({rank, destinations[i], weight});
  }
  return edges;
}

bool is_grid(int num_ranks, int num_dimensions, const int* dims, const int* periods) {
  if (num_dimensions < 1 || dims == nullptr || periods == nullptr) return false;
  std::int64_t num_places = 1;
  for (int d = 0; d < num_dimensions; ++d) {
    if (dims[d] < 1) return false;
    num_places *= dims[d];
    if (num_places > num_ranks) return false;
  }
  return true;
}

std::vector<RoleEdge> grid_edges(std::span<const int> dims, std::span<const int> periods) {
  int num_places = 1;
  for (const int extent : dims) num_places *= extent;
  std::vector<RoleEdge> edges;
  int stride = num_places;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    stride /= dims[d];
    for (int place = 0; place < num_places && dims[d] > 1; ++place) {
      const bool is_last = place / stride % dims[d] == dims[d] - 1;
      if (is_last && periods[d] == 0) continue;
      const int next = is_last ? place - stride * (dims[d] - 1) : place + stride;
      edges.push_back({place, next, 1});
      edges.push_back({next, place, 1});
    }
  }
  return edges;
}

}  // namespace fairlead::intercept
