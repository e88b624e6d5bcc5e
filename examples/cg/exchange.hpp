// SPDX-License-Identifier: Apache-2.0
// The three exchanges of the solver, all point-to-point: sum along the row, transpose, dot product.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "grid.hpp"
#include "matrix.hpp"

namespace cg {

/// Multiplies the distributed matrix with a distributed vector, and takes dot products.
class Exchange {
 public:
  Exchange(const Grid& grid, const Block& block, MPI_Comm comm)
      : grid_(grid),
        block_(block),
        comm_(comm),
        partial_(grid.row_block().size()),
        received_(grid.kept().size()) {}

  /// `out = A * in`. Collective.
  /// @param in This rank's piece. @param out This rank's piece.
  void multiply(std::span<const double> in, std::span<double> out) {
    block_.multiply(in, partial_);
    sum_along_row();
    swap_with(grid_.transpose_partner(), kept(), out);
  }

  /// Dot product of two distributed vectors; the same bits on every rank. Collective.
  [[nodiscard]] double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    for (int distance = 1; distance < grid_.num_cols(); distance *= 2) {
      double other = 0.0;
      swap_with(grid_.butterfly_partner(distance), std::span(&sum, 1), std::span(&other, 1));
      sum += other;
    }
    return sum;
  }

 private:
  /// Adds up the partial products of the row's ranks; `kept()` is complete afterwards.
  ///
  /// With two pieces per row of the grid only one of them is needed here, so the first step of the
  /// butterfly trades halves (reduce-scatter), and the others add up the half that was kept.
  void sum_along_row() {
    int distance = 1;
    if (grid_.has_two_pieces_per_row()) {
      add_from(grid_.butterfly_partner(distance), part(grid_.given_away()));
      distance *= 2;
    }
    for (; distance < grid_.num_cols(); distance *= 2) {
      add_from(grid_.butterfly_partner(distance), kept());
    }
  }

  void add_from(int partner, std::span<const double> sent) {
    swap_with(partner, sent, received_);
    const std::span<double> sum = kept();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += received_[i];
  }

  void swap_with(int partner, std::span<const double> sent, std::span<double> received) {
    constexpr int kTag = 0;
    MPI_Sendrecv(sent.data(), static_cast<int>(sent.size()), MPI_DOUBLE, partner, kTag,
                 received.data(), static_cast<int>(received.size()), MPI_DOUBLE, partner, kTag,
                 comm_, MPI_STATUS_IGNORE);
  }

  [[nodiscard]] std::span<double> part(Range rows) {
    return std::span(partial_).subspan(grid_.row_block().local(rows.begin), rows.size());
  }
  [[nodiscard]] std::span<double> kept() { return part(grid_.kept()); }

  const Grid& grid_;
  const Block& block_;
  MPI_Comm comm_;
  std::vector<double> partial_;   ///< This rank's share of A * in, rows of the block.
  std::vector<double> received_;  ///< The partner's share of the kept rows.
};

}  // namespace cg
