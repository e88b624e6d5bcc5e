// SPDX-License-Identifier: Apache-2.0
// Cuts a cube of grid points into one box per rank of a Cartesian process grid.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

#include "../common/options.hpp"
#include "../common/program.hpp"
#include "../common/ranges.hpp"

namespace stencil {

using example::Range;

inline constexpr int kNumDimensions = 3;
using PerDimension = std::array<int, kNumDimensions>;

[[nodiscard]] inline std::string as_text(const PerDimension& dims) {
  return std::to_string(dims[0]) + " x " + std::to_string(dims[1]) + " x " +
         std::to_string(dims[2]);
}

/// Ranks in each dimension.
/// @param wanted The requested numbers; MPI chooses those that are 0.
/// @throws example::UsageError The product is not the number of ranks.
[[nodiscard]] inline PerDimension process_grid(int num_ranks, const PerDimension& wanted) {
  std::int64_t num_wanted = 1;
  bool is_complete = true;
  for (const int dim : wanted) {
    if (dim != 0) num_wanted *= dim;
    is_complete = is_complete && dim != 0;
  }
  if (num_ranks % num_wanted != 0 || (is_complete && num_ranks != num_wanted)) {
    throw example::UsageError("--dims: " + as_text(wanted) + " cannot be made of " +
                              std::to_string(num_ranks) + " ranks (0 leaves a dimension to MPI)");
  }
  PerDimension dims = wanted;
  MPI_Dims_create(num_ranks, kNumDimensions, dims.data());
  return dims;
}

/// This rank's place in the process grid, and the box of grid points it owns.
class Domain {
 public:
  /// Collective.
  /// @param points_per_side Of the whole cube, without its boundary.
  /// @throws example::UsageError A rank would own no point.
  Domain(std::int64_t points_per_side, const PerDimension& dims) : dims_(dims) {
    for (const int dim : dims) {
      if (points_per_side < dim) {
        throw example::UsageError("--size: " + std::to_string(points_per_side) +
                                  " is too small for " + as_text(dims) + " ranks");
      }
    }
    const PerDimension is_periodic = {0, 0, 0};
    constexpr int kMayReorder = 1;
    MPI_Cart_create(MPI_COMM_WORLD, kNumDimensions, dims.data(), is_periodic.data(), kMayReorder,
                    &comm_);
    PerDimension coordinates{};
    MPI_Cart_coords(comm_, example::rank_in(comm_), kNumDimensions, coordinates.data());
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      box_[d] = example::part_of(points_per_side, dims[d], coordinates[d]);
      MPI_Cart_shift(comm_, static_cast<int>(d), 1, &lower_[d], &upper_[d]);
    }
  }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  ~Domain() { MPI_Comm_free(&comm_); }

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const PerDimension& dims() const { return dims_; }
  [[nodiscard]] const std::array<Range, kNumDimensions>& box() const { return box_; }

  /// Ranks of the neighbours in dimension `d`; MPI_PROC_NULL at the boundary of the cube.
  [[nodiscard]] int lower(std::size_t d) const { return lower_[d]; }
  [[nodiscard]] int upper(std::size_t d) const { return upper_[d]; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  PerDimension dims_;
  PerDimension lower_{};
  PerDimension upper_{};
  std::array<Range, kNumDimensions> box_{};
};

}  // namespace stencil
