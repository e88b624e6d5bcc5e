// SPDX-License-Identifier: Apache-2.0
// The 2-D process grid of the solver, and which part of the matrix and of the vectors a rank holds.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "../common/options.hpp"
#include "../common/ranges.hpp"

namespace cg {

using example::Range;

/// 2^k ranks as `num_rows` x `num_cols`, the columns as many as the rows or twice as many.
///
/// Vectors are cut into `num_cols` pieces; a rank of column c holds piece c, so each row of the
/// grid holds a whole vector. A row of the grid owns the matrix rows of one piece (square grid) or
/// of two neighbouring pieces (twice as many columns).
///
/// Source: the data layout of Bailey et al., The NAS Parallel Benchmarks (1994), kernel CG.
class Grid {
 public:
  /// @throws example::UsageError The number of ranks is no power of two, or a piece would be empty.
  Grid(std::int64_t num_unknowns, int num_ranks, int rank)
      : num_unknowns_(num_unknowns), num_cols_(columns_for(num_ranks)) {
    num_rows_ = num_ranks / num_cols_;
    row_ = rank / num_cols_;
    col_ = rank % num_cols_;
    if (num_unknowns < num_cols_) {
      throw example::UsageError("--size: " + std::to_string(num_unknowns) + " is too small for " +
                                std::to_string(num_ranks) + " ranks, at least " +
                                std::to_string(num_cols_) + " is needed");
    }
  }

  [[nodiscard]] int num_rows() const { return num_rows_; }
  [[nodiscard]] int num_cols() const { return num_cols_; }

  /// Unknowns of the vector piece that this rank holds.
  [[nodiscard]] Range piece() const { return piece(col_); }

  /// Columns of this rank's matrix block.
  [[nodiscard]] Range col_block() const { return piece(); }

  /// Rows of this rank's matrix block.
  [[nodiscard]] Range row_block() const {
    return {piece(row_ * pieces_per_row()).begin, piece((row_ + 1) * pieces_per_row() - 1).end};
  }

  /// The part of `row_block()` that this rank has in full after the sum along its row.
  [[nodiscard]] Range kept() const { return piece(row_ * pieces_per_row() + half()); }

  /// The other part of `row_block()`, which the neighbour keeps; only with two pieces per row.
  [[nodiscard]] Range given_away() const { return piece(row_ * pieces_per_row() + 1 - half()); }

  [[nodiscard]] bool has_two_pieces_per_row() const { return num_cols_ != num_rows_; }

  /// The rank in this row whose column differs by `distance`, a power of two, in one bit.
  [[nodiscard]] int butterfly_partner(int distance) const { return rank_at(row_, col_ ^ distance); }

  /// The rank whose kept part is this rank's piece, and the other way round.
  [[nodiscard]] int transpose_partner() const {
    return rank_at(col_ / pieces_per_row(), row_ * pieces_per_row() + half());
  }

 private:
  static int columns_for(int num_ranks) {
    if (!std::has_single_bit(static_cast<unsigned>(num_ranks))) {
      throw example::UsageError("the number of ranks must be a power of two, got " +
                                std::to_string(num_ranks));
    }
    const int log2_ranks = std::countr_zero(static_cast<unsigned>(num_ranks));
    return 1 << ((log2_ranks + 1) / 2);
  }

  [[nodiscard]] Range piece(int col) const {
    return example::part_of(num_unknowns_, num_cols_, col);
  }
  [[nodiscard]] int pieces_per_row() const { return num_cols_ / num_rows_; }
  [[nodiscard]] int half() const { return col_ % pieces_per_row(); }
  [[nodiscard]] int rank_at(int row, int col) const { return row * num_cols_ + col; }

  std::int64_t num_unknowns_;
  int num_cols_;
  int num_rows_ = 1;
  int row_ = 0;
  int col_ = 0;
};

}  // namespace cg
