// SPDX-License-Identifier: Apache-2.0
// One explicit step of the heat equation, and the fields for which its outcome is known exactly.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "domain.hpp"
#include "field.hpp"

namespace stencil {

/// Time step over squared grid spacing. Below 1/6 every mode shrinks; at 1/8 the one that
/// alternates from point to point shrinks faster than the smooth ones, so rounding errors die out.
inline constexpr double kDiffusion_ratio = 0.125;

/// `next = now + ratio * (sum of the six neighbours - 6 * now)` at every point inside.
inline void step(const Field& now, Field& next) {
  const std::span<const double> u = now.values();
  const std::span<double> out = next.values();
  const std::size_t dx = now.at(1, 0, 0);
  const std::size_t dy = now.at(0, 1, 0);
  now.for_each_point([u, out, dx, dy, &now](std::size_t x, std::size_t y, std::size_t z) {
    const std::size_t i = now.at(x, y, z);
    const double neighbours = u[i - dx] + u[i + dx] + u[i - dy] + u[i + dy] + u[i - 1] + u[i + 1];
    out[i] = u[i] + kDiffusion_ratio * (neighbours - 6.0 * u[i]);
  });
}

/// A sine wave with `waves` half periods along each side: an eigenvector of `step`.
struct Mode {
  PerDimension waves;

  /// The factor by which one step multiplies it: 1 - 4 ratio * sum over d of sin^2(pi w_d /
  /// 2(n+1)).
  ///
  /// Source: LeVeque, Finite Difference Methods for Ordinary and Partial Differential Equations
  /// (2007), section 2.10 for the eigenvalues of the second difference, three times over.
  [[nodiscard]] double decay_ratio(std::int64_t points_per_side) const {
    double sum = 0.0;
    for (const int wave : waves) {
      const double half_angle =
          std::numbers::pi * wave / (2.0 * static_cast<double>(points_per_side + 1));
      sum += std::sin(half_angle) * std::sin(half_angle);
    }
    return 1.0 - 4.0 * kDiffusion_ratio * sum;
  }

  /// @param point Global indices from 0.
  [[nodiscard]] double at(const std::array<std::int64_t, kNumDimensions>& point,
                          std::int64_t points_per_side) const {
    double product = 1.0;
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      product *= std::sin(std::numbers::pi * waves[d] * static_cast<double>(point[d] + 1) /
                          static_cast<double>(points_per_side + 1));
    }
    return product;
  }
};

/// The first mode decays slowest and keeps the comparison meaningful after many steps; the second
/// one is alike in no two directions, so that mixed-up faces show.
inline constexpr std::array kModes = {Mode{{1, 1, 1}}, Mode{{1, 2, 3}}};

/// What the field is after `num_steps` from the sum of the modes, up to rounding.
[[nodiscard]] inline Field exact_field(const std::array<Range, kNumDimensions>& box,
                                       std::int64_t points_per_side, std::int64_t num_steps) {
  Field field(box);
  for (const Mode& mode : kModes) {
    const double amplitude =
        std::pow(mode.decay_ratio(points_per_side), static_cast<double>(num_steps));
    field.for_each_point([&](std::size_t x, std::size_t y, std::size_t z) {
      const std::array<std::int64_t, kNumDimensions> point = {
          box[0].begin + static_cast<std::int64_t>(x) - 1,
          box[1].begin + static_cast<std::int64_t>(y) - 1,
          box[2].begin + static_cast<std::int64_t>(z) - 1};
      field.values()[field.at(x, y, z)] += amplitude * mode.at(point, points_per_side);
    });
  }
  return field;
}

}  // namespace stencil
