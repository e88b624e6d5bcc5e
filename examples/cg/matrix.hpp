// SPDX-License-Identifier: Apache-2.0
// A random sparse symmetric positive definite matrix that every rank can draw without
// communication.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "grid.hpp"

namespace cg {

/// The finalizer of SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators
/// (OOPSLA 2014), with the constants of Stafford's variant 13; kGolden is its step.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31);
}
inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;

/// What fixes every entry of the matrix.
struct MatrixSpec {
  std::int64_t num_unknowns;
  std::int64_t nonzeros_per_row;  ///< Off the diagonal, on average.
  std::int64_t seed;
};

/// D^(-1/2) (D + S) D^(-1/2) with a random sparse symmetric S, and 1 + twice the row sums of |S| as
/// the diagonal D. So the diagonal is 1, and the eigenvalues lie between 1/2 and 3/2 (Gershgorin
/// for the similar matrix I + D^-1 S): positive definite, whatever was drawn.
class Matrix {
 public:
  explicit Matrix(const MatrixSpec& spec)
      : spec_(spec), scale_of_unknown_(static_cast<std::size_t>(spec.num_unknowns), 1.0) {
    for_each_drawn([this](std::size_t i, std::size_t j, double value) {
      scale_of_unknown_[i] += 2.0 * std::abs(value);
      scale_of_unknown_[j] += 2.0 * std::abs(value);
    });
    for (double& scale : scale_of_unknown_) scale = 1.0 / std::sqrt(scale);
  }

  /// Calls `visit(i, j, value)` for pairs i != j; the entries (i, j) and (j, i) both are the sum of
  /// the values over the visits of i, j and of j, i.
  template <typename Visit>
  void for_each_link(Visit visit) const {
    for_each_drawn([this, &visit](std::size_t i, std::size_t j, double value) {
      visit(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j),
            scale_of_unknown_[i] * scale_of_unknown_[j] * value);
    });
  }

 private:
  /// Draws S: `visit(i, j, value)` with i != j and values between -1 and 1.
  template <typename Visit>
  void for_each_drawn(Visit visit) const {
    const std::size_t num_unknowns = scale_of_unknown_.size();
    std::uint64_t state = mix(static_cast<std::uint64_t>(spec_.seed) + kGolden);
    for (std::size_t i = 0; i < num_unknowns; ++i) {
      // A link fills two entries, so an odd number of nonzeros takes one more every second row.
      const auto num_links = (static_cast<std::size_t>(spec_.nonzeros_per_row) + i % 2) / 2;
      for (std::size_t link = 0; link < num_links; ++link) {
        state += kGolden;
        const std::uint64_t bits = mix(state);
        const std::size_t j = bits % num_unknowns;
        const double value = std::ldexp(static_cast<double>(mix(bits) >> 11), -52) - 1.0;
        if (i != j) visit(i, j, value);
      }
    }
  }

  MatrixSpec spec_;
  std::vector<double> scale_of_unknown_;
};

/// One rank's block of the matrix in compressed sparse rows.
class Block {
 public:
  Block(const Matrix& matrix, Range rows, Range cols) : first_entry_of_row_(rows.size() + 1, 0) {
    for_each_entry(matrix, rows, cols, [this](std::size_t row, std::size_t, double) {
      ++first_entry_of_row_[row + 1];
    });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      first_entry_of_row_[row + 1] += first_entry_of_row_[row];
    }
    col_of_entry_.resize(first_entry_of_row_.back());
    value_of_entry_.resize(first_entry_of_row_.back());
    std::vector<std::size_t> next = first_entry_of_row_;
    for_each_entry(matrix, rows, cols,
                   [this, &next](std::size_t row, std::size_t col, double value) {
                     col_of_entry_[next[row]] = col;
                     value_of_entry_[next[row]++] = value;
                   });
  }

  /// `out = block * in`.
  /// @param in Shape (columns of the block). @param out Shape (rows of the block).
  void multiply(std::span<const double> in, std::span<double> out) const {
    for (std::size_t row = 0; row < out.size(); ++row) {
      double sum = 0.0;
      for (std::size_t e = first_entry_of_row_[row]; e < first_entry_of_row_[row + 1]; ++e) {
        sum += value_of_entry_[e] * in[col_of_entry_[e]];
      }
      out[row] = sum;
    }
  }

 private:
  /// Calls `visit(local row, local column, value)` for the entries inside `rows` x `cols`.
  template <typename Visit>
  static void for_each_entry(const Matrix& matrix, Range rows, Range cols, Visit visit) {
    for (std::int64_t i = cols.begin; i < cols.end; ++i) {
      if (rows.has(i)) visit(rows.local(i), cols.local(i), 1.0);
    }
    matrix.for_each_link([rows, cols, &visit](std::int64_t i, std::int64_t j, double value) {
      if (rows.has(i) && cols.has(j)) visit(rows.local(i), cols.local(j), value);
      if (rows.has(j) && cols.has(i)) visit(rows.local(j), cols.local(i), value);
    });
  }

  std::vector<std::size_t> first_entry_of_row_;
  std::vector<std::size_t> col_of_entry_;
  std::vector<double> value_of_entry_;
};

}  // namespace cg
