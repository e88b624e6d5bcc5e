// SPDX-License-Identifier: Apache-2.0
// Moves this rank's bodies by the attraction of all.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../common/allgather.hpp"
#include "../common/ranges.hpp"
#include "ring.hpp"

namespace nbody {

/// Positions of the bodies of a range, kNumDimensions each.
using Positions = std::vector<double>;

/// The bodies of `own` after `step` steps.
[[nodiscard]] inline Positions exact_positions(const Ring& ring, example::Range own, double step) {
  Positions positions;
  for (std::int64_t body = own.begin; body < own.end; ++body) {
    for (std::size_t axis = 0; axis < kNumDimensions; ++axis) {
      positions.push_back(ring.coordinate(body, axis, step));
    }
  }
  return positions;
}

/// Adds `factor` times the pull of all bodies on those at `positions`.
inline void add_pull(std::span<const double> positions, std::span<const double> all, double factor,
                     std::span<double> sum) {
  for (std::size_t body = 0; body < positions.size(); body += kNumDimensions) {
    double pull[kNumDimensions] = {};
    for (std::size_t other = 0; other < all.size(); other += kNumDimensions) {
      double away[kNumDimensions] = {};
      double distance2 = kSoftening2;
      for (std::size_t axis = 0; axis < kNumDimensions; ++axis) {
        away[axis] = all[other + axis] - positions[body + axis];
        distance2 += away[axis] * away[axis];
      }
      const double strength = 1.0 / (distance2 * std::sqrt(distance2));
      for (std::size_t axis = 0; axis < kNumDimensions; ++axis) {
        pull[axis] += strength * away[axis];
      }
    }
    for (std::size_t axis = 0; axis < kNumDimensions; ++axis) {
      sum[body + axis] += factor * pull[axis];
    }
  }
}

/// This rank's bodies after `num_steps` steps. Collective.
///
/// Source: the leapfrog method; Hairer, Lubich, Wanner, Geometric numerical integration illustrated
/// by the Stormer-Verlet method (2003), eq. 1.5, with the way of a step in place of velocities.
[[nodiscard]] inline Positions moved(const Ring& ring, example::Range own, std::int64_t num_bodies,
                                     std::int64_t num_steps, example::Allgather& allgather) {
  Positions positions = exact_positions(ring, own, 0.0);
  std::vector<double> way = exact_positions(ring, own, -1.0);
  for (std::size_t i = 0; i < way.size(); ++i) way[i] = positions[i] - way[i];
  Positions block;
  for (std::int64_t step = 0; step < num_steps; ++step) {
    // Blocks are of one length; those of the last ranks may not be full.
    block = positions;
    block.resize(allgather.block_length());
    const auto all = allgather(block).first(static_cast<std::size_t>(num_bodies) * kNumDimensions);
    add_pull(positions, all, ring.step2() * ring.mass(), way);
    for (std::size_t i = 0; i < way.size(); ++i) positions[i] += way[i];
  }
  return positions;
}

}  // namespace nbody
