// SPDX-License-Identifier: Apache-2.0
// Systems with a known solution, and its comparison with the computed one.
#pragma once

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "matrix.hpp"

namespace cg {

/// Unknown number `index` of the solution of system number `system`; no two systems are alike.
[[nodiscard]] inline double known_solution(std::int64_t system, std::int64_t index) {
  return 1.0 + std::cos(0.1 * static_cast<double>(system + 1) * static_cast<double>(index));
}

/// The rows in `rows` of A * known_solution(system).
/// Computed entry by entry from the matrix's definition, not with the distributed product:
/// otherwise
/// an error in the exchange would change both sides of the system alike and go unnoticed.
[[nodiscard]] inline std::vector<double> right_hand_side(const Matrix& matrix, Range rows,
                                                         std::int64_t system) {
  std::vector<double> rhs(rows.size());
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    rhs[rows.local(i)] = known_solution(system, i);
  }
  matrix.for_each_link([&rhs, rows, system](std::int64_t i, std::int64_t j, double value) {
    if (rows.has(i)) rhs[rows.local(i)] += value * known_solution(system, j);
    if (rows.has(j)) rhs[rows.local(j)] += value * known_solution(system, i);
  });
  return rhs;
}

/// How far a computed solution is off, both relative in the Euclidean norm.
struct Deviation {
  double residual_ratio = 0.0;  ///< |rhs - A x| / |rhs|
  double error_ratio = 0.0;     ///< |x - known| / |known|

  /// False also for `nan`.
  [[nodiscard]] bool is_within(double tolerance_ratio) const {
    return residual_ratio <= tolerance_ratio && error_ratio <= tolerance_ratio;
  }
};

/// Collective. All ranks get the same answer.
/// @param piece  Unknowns that this rank holds.
template <typename AnyExchange>
[[nodiscard]] Deviation deviation(AnyExchange& exchange, Range piece, std::int64_t system,
                                  std::span<const double> x, std::span<const double> rhs) {
  std::vector<double> product(x.size());
  exchange.multiply(x, product);
  double residual2 = 0.0;
  double rhs2 = 0.0;
  double error2 = 0.0;
  double known2 = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double known = known_solution(system, piece.begin + static_cast<std::int64_t>(i));
    residual2 += (rhs[i] - product[i]) * (rhs[i] - product[i]);
    rhs2 += rhs[i] * rhs[i];
    error2 += (x[i] - known) * (x[i] - known);
    known2 += known * known;
  }
  // Over all ranks, so that each row's copy of the vectors is checked; ratios do not change.
  std::array<double, 4> sums = {residual2, rhs2, error2, known2};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {std::sqrt(sums[0] / sums[1]), std::sqrt(sums[2] / sums[3])};
}

}  // namespace cg
