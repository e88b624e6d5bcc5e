// SPDX-License-Identifier: Apache-2.0
// Vectors whose products are known: each is an eigenvector of the Laplacian of the cube.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "block.hpp"
#include "task.hpp"

namespace spmv {

/// How much of the temperature flows in a step: after 10,000 of them each vector still has digits.
inline constexpr double kStep = 1e-4;

/// Waves along each side of vector number `vector`; different ones for up to size^3 vectors.
[[nodiscard]] inline std::array<std::int64_t, kNumDimensions> waves_of(std::int64_t vector,
                                                                       std::int64_t size) {
  return {vector % size + 1, vector / size % size + 1, vector / size / size % size + 1};
}

/// Factor by which one product multiplies a vector. Source: the eigenvalues of the second
/// difference with zeros beyond both ends, 2 - 2 cos(pi w / (size + 1)) for w waves.
[[nodiscard]] inline double factor_of(std::int64_t vector, std::int64_t size) {
  double eigenvalue = 0.0;
  for (const std::int64_t waves : waves_of(vector, size)) {
    eigenvalue += 2.0 - 2.0 * std::cos(std::numbers::pi * static_cast<double>(waves) /
                                       static_cast<double>(size + 1));
  }
  return 1.0 - kStep * eigenvalue;
}

/// A task's part of the vectors after some products, shape (points, vectors).
[[nodiscard]] inline std::vector<double> known_vectors(const Boxes& boxes, int task,
                                                       std::int64_t num_vectors,
                                                       std::int64_t num_products) {
  const auto box = boxes.box_of(task);
  const std::int64_t size = boxes.size();
  const auto wave = [size](std::int64_t waves, std::int64_t at) {
    return std::sin(std::numbers::pi * static_cast<double>(waves * (at + 1)) /
                    static_cast<double>(size + 1));
  };
  std::vector<double> values;
  values.reserve(boxes.num_points(task) * static_cast<std::size_t>(num_vectors));
  std::vector<double> left;
  for (std::int64_t v = 0; v < num_vectors; ++v) {
    left.push_back(std::pow(factor_of(v, size), static_cast<double>(num_products)));
  }
  for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
    for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
      for (std::int64_t z = box[2].begin; z < box[2].end; ++z) {
        for (std::int64_t v = 0; v < num_vectors; ++v) {
          const auto waves = waves_of(v, size);
          values.push_back(left[static_cast<std::size_t>(v)] * wave(waves[0], x) *
                           wave(waves[1], y) * wave(waves[2], z));
        }
      }
    }
  }
  return values;
}

/// |computed - wanted| / |wanted| in the Euclidean norm, over all points and vectors.
class Difference {
 public:
  void add(std::span<const double> computed, std::span<const double> wanted) {
    for (std::size_t i = 0; i < computed.size(); ++i) {
      squares_[0] += (computed[i] - wanted[i]) * (computed[i] - wanted[i]);
      squares_[1] += wanted[i] * wanted[i];
    }
  }
  /// Collective.
  [[nodiscard]] double ratio(MPI_Comm comm) const {
    std::array<double, 2> sums = squares_;
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, comm);
    return std::sqrt(sums[0] / sums[1]);
  }

 private:
  std::array<double, 2> squares_ = {0.0, 0.0};
};

}  // namespace spmv
