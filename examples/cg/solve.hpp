// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients with a fixed number of steps, so that every run does the same work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cg {

/// `numerator / denominator`, or 0 once nothing is left to divide.
///
/// Squared norms this small (the limit keeps well clear of underflow) mean that the system is
/// solved as far as numbers go; the steps that remain then change nothing.
[[nodiscard]] inline double step_length(double numerator, double denominator) {
  constexpr double kExhausted = 1e-280;
  return numerator < kExhausted ? 0.0 : numerator / denominator;
}

/// Solves A x = rhs from x = 0. Collective.
/// @param exchange  An `Exchange` or a `WholeVector`.
/// @param rhs This rank's piece. @return This rank's piece of x.
///
/// Source: Hestenes, Stiefel, Methods of conjugate gradients (1952), section 3.
template <typename AnyExchange>
[[nodiscard]] std::vector<double> solve(AnyExchange& exchange, std::span<const double> rhs,
                                        std::int64_t num_iterations) {
  std::vector<double> x(rhs.size(), 0.0);
  std::vector<double> residual(rhs.begin(), rhs.end());
  std::vector<double> direction = residual;
  std::vector<double> product(rhs.size());
  double norm2 = exchange.dot(residual, residual);
  for (std::int64_t iteration = 0; iteration < num_iterations; ++iteration) {
    exchange.multiply(direction, product);
    const double alpha = step_length(norm2, exchange.dot(direction, product));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * direction[i];
      residual[i] -= alpha * product[i];
    }
    const double previous_norm2 = norm2;
    norm2 = exchange.dot(residual, residual);
    const double beta = step_length(norm2, previous_norm2);
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = residual[i] + beta * direction[i];
  }
  return x;
}

}  // namespace cg
