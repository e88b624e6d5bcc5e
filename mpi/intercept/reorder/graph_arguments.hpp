// SPDX-License-Identifier: Apache-2.0
// Arguments of the calls that make a distributed graph: checked, packed into one array that can be
// sent, read back, and turned into edges. Cartesian grids become edges here, too. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fairlead/mapping/place_roles.hpp"

namespace fairlead::intercept {

using Integers = std::vector<int>;

/// The two values for absent weights in the program's MPI.
struct WeightMarks {
  int* unweighted;
  int* empty;
};

/// Arguments of MPI_Dist_graph_create on one rank, in one array: is_weighted, number of sources,
/// sources, degrees, destinations, weights.
class GraphArguments {
 public:
  /// Null if the MPI would refuse them, or if they are too large for one message.
  static std::optional<Integers> pack(int num_ranks, WeightMarks marks, int num_sources,
                                      const int* sources, const int* degrees,
                                      const int* destinations, const int* weights);

  /// @pre `packed` was made by `pack`, and outlives this.
  GraphArguments(const Integers& packed, WeightMarks marks);

  int num_sources;
  const int* sources;
  const int* degrees;
  const int* destinations;
  const int* weights;  ///< may be one of the marks

  /// Every edge, with weight 1 if there are no weights.
  [[nodiscard]] std::vector<RoleEdge> edges(WeightMarks marks) const;
};

/// The same for MPI_Dist_graph_create_adjacent: is_weighted, both degrees, sources, destinations,
/// weights of the sources, weights of the destinations.
class AdjacentArguments {
 public:
  static std::optional<Integers> pack(int num_ranks, WeightMarks marks, int indegree,
                                      const int* sources, const int* source_weights, int outdegree,
                                      const int* destinations, const int* destination_weights);

  AdjacentArguments(const Integers& packed, WeightMarks marks);

  int indegree;
  int outdegree;
  const int* sources;
  const int* destinations;
  const int* source_weights;
  const int* destination_weights;

  /// The edges out of `rank`; those into it come from their sources.
  [[nodiscard]] std::vector<RoleEdge> edges(int rank, WeightMarks marks) const;
};

/// Whether the arguments were packed with weights.
[[nodiscard]] bool is_weighted(const Integers& packed);

/// Whether a grid of these extents has at least one dimension and fits the ranks.
[[nodiscard]] bool is_grid(int num_ranks, int num_dimensions, const int* dims, const int* periods);

/// One edge each way between neighbours along each dimension; the last one varies fastest (MPI 4.0,
/// section 8.2).
[[nodiscard]] std::vector<RoleEdge> grid_edges(std::span<const int> dims,
                                               std::span<const int> periods);

}  // namespace fairlead::intercept
