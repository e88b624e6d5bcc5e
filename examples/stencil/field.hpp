// SPDX-License-Identifier: Apache-2.0
// A value per grid point of a box, with one layer of ghost points around it; z is contiguous.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "domain.hpp"

namespace stencil {

class Field {
 public:
  /// All values 0, which is also the value on the boundary of the cube.
  explicit Field(const std::array<Range, kNumDimensions>& box)
      : num_points_{box[0].size(), box[1].size(), box[2].size()},
        values_((num_points_[0] + 2) * (num_points_[1] + 2) * (num_points_[2] + 2), 0.0) {}

  /// Points inside, without ghosts, per dimension.
  [[nodiscard]] const std::array<std::size_t, kNumDimensions>& num_points() const {
    return num_points_;
  }

  /// Where point (x, y, z) stands in `values()`; 0 and num_points + 1 are the ghosts.
  [[nodiscard]] std::size_t at(std::size_t x, std::size_t y, std::size_t z) const {
    return (x * (num_points_[1] + 2) + y) * (num_points_[2] + 2) + z;
  }

  [[nodiscard]] std::span<double> values() { return values_; }
  [[nodiscard]] std::span<const double> values() const { return values_; }

  /// Calls `visit(x, y, z)` for each point inside, ghosts left out; the first one is (1, 1, 1).
  template <typename Visit>
  void for_each_point(Visit visit) const {
    for (std::size_t x = 1; x <= num_points_[0]; ++x) {
      for (std::size_t y = 1; y <= num_points_[1]; ++y) {
        for (std::size_t z = 1; z <= num_points_[2]; ++z) visit(x, y, z);
      }
    }
  }

 private:
  std::array<std::size_t, kNumDimensions> num_points_;
  std::vector<double> values_;
};

}  // namespace stencil
