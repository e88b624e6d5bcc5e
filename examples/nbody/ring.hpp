// SPDX-License-Identifier: Apache-2.0
// Bodies on a ring that attract one another: a motion whose time steps are known exactly.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace nbody {

inline constexpr std::size_t kNumDimensions = 3;

/// Softens the attraction (Plummer 1911), so that neighbours do not pull the ring apart.
inline constexpr double kSoftening2 = 1.0;

/// Bodies of equal mass, evenly on a circle of radius 1 that is inclined to all axes.
///
/// By symmetry the others together pull each body towards the centre with w^2 times its distance,
/// so a step of the leapfrog method turns the ring by the angle a with cos a = 1 - (w dt)^2 / 2 and
/// does nothing else.
class Ring {
 public:
  /// @param angle Radians by which each step turns the ring.
  Ring(std::int64_t num_bodies, double angle) : num_bodies_(num_bodies), angle_(angle) {
    double pull = 0.0;
    for (std::int64_t other = 1; other < num_bodies; ++other) {
      const double away = 2.0 * std::numbers::pi * part(other);
      const double distance2 = 2.0 - 2.0 * std::cos(away) + kSoftening2;
      pull += mass() * (1.0 - std::cos(away)) / (distance2 * std::sqrt(distance2));
    }
    // A single body stays where it is.
    if (pull > 0.0) step2_ = 2.0 * (1.0 - std::cos(angle)) / pull;
    if (pull == 0.0) angle_ = 0.0;
  }

  [[nodiscard]] double mass() const { return 1.0 / static_cast<double>(num_bodies_); }

  /// The square of the time step.
  [[nodiscard]] double step2() const { return step2_; }

  /// Coordinate `axis` of a body after `step` steps.
  [[nodiscard]] double coordinate(std::int64_t body, std::size_t axis, double step) const {
    // Two unit vectors at right angles.
    constexpr double kAlong[kNumDimensions] = {2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0};
    constexpr double kAcross[kNumDimensions] = {-2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
    const double angle = 2.0 * std::numbers::pi * part(body) + angle_ * step;
    return kAlong[axis] * std::cos(angle) + kAcross[axis] * std::sin(angle);
  }

 private:
  [[nodiscard]] double part(std::int64_t body) const {
    return static_cast<double>(body) / static_cast<double>(num_bodies_);
  }

  std::int64_t num_bodies_;
  double angle_;
  double step2_ = 0.0;
};

}  // namespace nbody
