// SPDX-License-Identifier: Apache-2.0
// Solves u - laplace(u) = f on a periodic cube in Fourier space, for an f whose u is known.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "pencils.hpp"
#include "transform.hpp"
#include "turn.hpp"

namespace fft {

/// One wave of the known solution on the cube [0, 2 pi)^3.
struct Wave {
  double amplitude;
  std::array<double, kNumDimensions> numbers;

  /// What 1 - laplace multiplies it by.
  [[nodiscard]] double eigenvalue() const {
    return 1.0 + numbers[0] * numbers[0] + numbers[1] * numbers[1] + numbers[2] * numbers[2];
  }
};

/// A constant, so that no coefficient goes unused, and waves that are alike in no two directions.
/// A cube of 8 points per side still resolves them.
inline constexpr std::array kWaves = {Wave{1.0, {0.0, 0.0, 0.0}}, Wave{0.75, {1.0, 2.0, 3.0}},
                                      Wave{0.5, {-3.0, 1.0, 2.0}}};
inline constexpr std::int64_t kMinPoints = 8;

/// The sum of the waves, each times `factor(wave)`; every system has its own phase.
template <typename Factor>
void fill(Field& field, std::int64_t points_per_side, std::int64_t system, Factor factor) {
  const double spacing = 2.0 * std::numbers::pi / static_cast<double>(points_per_side);
  field.for_each_point([&](const std::array<std::int64_t, 3>& point, Complex& value) {
    double sum = 0.0;
    for (const Wave& wave : kWaves) {
      double angle = 0.1 * static_cast<double>(system);
      for (std::size_t d = 0; d < kNumDimensions; ++d) {
        angle += wave.numbers[d] * spacing * static_cast<double>(point[d]);
      }
      sum += factor(wave) * wave.amplitude * std::cos(angle);
    }
    value = sum;
  });
}

class Solver {
 public:
  Solver(const Pencils& pencils, std::int64_t points_per_side)
      : points_per_side_(points_per_side),
        transform_(static_cast<std::size_t>(points_per_side)),
        along_y_(pencils.box(Axis::y, pencils.own())),
        along_x_(pencils.box(Axis::x, pencils.own())),
        // Both leave one cut as it is: x by rows in the first, z by columns in the second.
        z_to_y_(pencils, Axis::z, Axis::y, 1),
        y_to_x_(pencils, Axis::y, Axis::x, 0),
        line_(static_cast<std::size_t>(points_per_side)) {}

  /// Replaces f by u. Collective.
  /// @param field Pencils along z.
  void solve(Field& field) {
    transform(field, Axis::z, Direction::forward);
    z_to_y_.there(field, along_y_);
    transform(along_y_, Axis::y, Direction::forward);
    y_to_x_.there(along_y_, along_x_);
    transform(along_x_, Axis::x, Direction::forward);
    divide();
    transform(along_x_, Axis::x, Direction::backward);
    y_to_x_.back(along_x_, along_y_);
    transform(along_y_, Axis::y, Direction::backward);
    z_to_y_.back(along_y_, field);
    transform(field, Axis::z, Direction::backward);
  }

 private:
  void transform(Field& field, Axis axis, Direction direction) {
    const auto d = static_cast<std::size_t>(axis);
    const std::size_t stride = field.stride(d);
    const std::size_t length = line_.size();
    for (std::size_t line = 0; line < field.values.size() / length; ++line) {
      Complex* const first = field.values.data() + line / stride * stride * length + line % stride;
      for (std::size_t i = 0; i < length; ++i) line_[i] = first[i * stride];
      transform_.apply(line_, direction);
      for (std::size_t i = 0; i < length; ++i) first[i * stride] = line_[i];
    }
  }

  /// By the eigenvalue of each wave, and by the scale that both directions of the transform leave.
  void divide() {
    const double scale = std::pow(static_cast<double>(points_per_side_), kNumDimensions);
    along_x_.for_each_point([&](const std::array<std::int64_t, 3>& point, Complex& value) {
      Wave wave{1.0, {}};
      for (std::size_t d = 0; d < kNumDimensions; ++d) {
        const std::int64_t number =
            point[d] <= points_per_side_ / 2 ? point[d] : point[d] - points_per_side_;
        wave.numbers[d] = static_cast<double>(number);
      }
      value /= wave.eigenvalue() * scale;
    });
  }

  std::int64_t points_per_side_;
  Transform transform_;
  Field along_y_;
  Field along_x_;
  Turn z_to_y_;
  Turn y_to_x_;
  std::vector<Complex> line_;
};

}  // namespace fft
