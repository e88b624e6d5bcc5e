// SPDX-License-Identifier: Apache-2.0
// The other way to multiply: each rank owns whole rows and gets the whole vector in each step.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "../common/allgather.hpp"
#include "../common/ranges.hpp"
#include "grid.hpp"
#include "matrix.hpp"

namespace cg {

/// Which rows of the matrix, and which part of the vectors, a rank of any number holds.
class Rows {
 public:
  Rows(std::int64_t num_unknowns, int num_ranks, int rank)
      : num_unknowns_(num_unknowns),
        length_(example::equal_part_of(num_unknowns, num_ranks, 0).size()),
        piece_(example::equal_part_of(num_unknowns, num_ranks, rank)) {}

  [[nodiscard]] Range piece() const { return piece_; }
  [[nodiscard]] Range row_block() const { return piece_; }
  [[nodiscard]] Range col_block() const { return {0, num_unknowns_}; }
  /// Length of the pieces of all ranks but the last ones.
  [[nodiscard]] std::size_t piece_length() const { return length_; }

 private:
  std::int64_t num_unknowns_;
  std::size_t length_;
  Range piece_;
};

/// Multiplies by an allgather of the vector, and takes dot products; like `Exchange`.
class WholeVector {
 public:
  WholeVector(const Rows& rows, const Block& block, MPI_Comm comm)
      : rows_(rows), block_(block), comm_(comm), allgather_(rows.piece_length(), comm) {}

  void multiply(std::span<const double> in, std::span<double> out) {
    sent_.assign(in.begin(), in.end());
    sent_.resize(rows_.piece_length());
    block_.multiply(allgather_(sent_).first(rows_.col_block().size()), out);
  }

  [[nodiscard]] double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    const double start_s = MPI_Wtime();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
    allreduce_s_ += MPI_Wtime() - start_s;
    return sum;
  }

  [[nodiscard]] double allgather_s() const { return allgather_.elapsed_s(); }
  /// Time of this rank in allgathers and the sums of dot products.
  [[nodiscard]] double communication_s() const { return allgather_.own_s() + allreduce_s_; }

 private:
  const Rows& rows_;
  const Block& block_;
  MPI_Comm comm_;
  example::Allgather allgather_;
  double allreduce_s_ = 0.0;
  std::vector<double> sent_;  ///< This rank's piece, of full length.
};

}  // namespace cg
