// SPDX-License-Identifier: Apache-2.0
// Cuts a cube into pencils, one per rank of a 2-D process grid, that run along x, y or z.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/options.hpp"
#include "../common/program.hpp"
#include "../common/ranges.hpp"
#include "transform.hpp"

namespace fft {

using example::Range;

inline constexpr std::size_t kNumDimensions = 3;
using Box = std::array<Range, kNumDimensions>;
using ProcessGrid = std::array<int, 2>;

/// The dimension that a pencil contains completely.
enum class Axis : std::size_t { x = 0, y = 1, z = 2 };

/// Values on a box of the cube, the last dimension running fastest.
struct Field {
  explicit Field(const Box& of_box) : box(of_box) {
    values.resize(box[0].size() * box[1].size() * box[2].size());
  }

  /// Distance in `values` of neighbours in dimension `d`.
  [[nodiscard]] std::size_t stride(std::size_t d) const {
    std::size_t product = 1;
    for (std::size_t k = d + 1; k < kNumDimensions; ++k) product *= box[k].size();
    return product;
  }

  /// Calls `visit(point, value)` for every point of the box, in global indices.
  template <typename Visit>
  void for_each_point(Visit visit) {
    std::size_t i = 0;
    for (std::int64_t x = box[0].begin; x < box[0].end; ++x) {
      for (std::int64_t y = box[1].begin; y < box[1].end; ++y) {
        for (std::int64_t z = box[2].begin; z < box[2].end; ++z) {
          visit(std::array{x, y, z}, values[i++]);
        }
      }
    }
  }

  Box box;
  std::vector<Complex> values;
};

/// This rank's place in the process grid, and the pencils of all ranks.
class Pencils {
 public:
  /// Collective.
  /// @param wanted Ranks along both sides of the process grid; if 0, MPI chooses.
  /// @throws example::UsageError The product is not the number of ranks, or a rank would own no
  /// point.
  Pencils(std::int64_t points_per_side, const ProcessGrid& wanted)
      : points_per_side_(points_per_side), dims_(wanted) {
    const int num_ranks = example::num_ranks_in(MPI_COMM_WORLD);
    const std::int64_t fixed = std::int64_t{1} * std::max(wanted[0], 1) * std::max(wanted[1], 1);
    const bool is_complete = wanted[0] != 0 && wanted[1] != 0;
    if (fixed > num_ranks || num_ranks % fixed != 0 || (is_complete && fixed != num_ranks)) {
      throw example::UsageError("--dims: " + text() + " cannot be made of " +
                                std::to_string(num_ranks) + " ranks (0 leaves a side to MPI)");
    }
    MPI_Dims_create(num_ranks, static_cast<int>(dims_.size()), dims_.data());
    if (points_per_side < dims_[0] || points_per_side < dims_[1]) {
      throw example::UsageError("--size: " + std::to_string(points_per_side) +
                                " is too small for " + text() + " ranks");
    }
    const std::array is_periodic = {0, 0};
    constexpr int kMayReorder = 1;
    MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims_.size()), dims_.data(),
                    is_periodic.data(), kMayReorder, &comm_);
    MPI_Cart_coords(comm_, example::rank_in(comm_), static_cast<int>(own_.size()), own_.data());
  }
  Pencils(const Pencils&) = delete;
  Pencils& operator=(const Pencils&) = delete;
  ~Pencils() { MPI_Comm_free(&comm_); }

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] const ProcessGrid& dims() const { return dims_; }
  /// This rank's row and column of the process grid.
  [[nodiscard]] const ProcessGrid& own() const { return own_; }
  [[nodiscard]] std::string text() const {
    return std::to_string(dims_[0]) + " x " + std::to_string(dims_[1]);
  }

  [[nodiscard]] int rank_at(const ProcessGrid& place) const {
    int rank = 0;
    MPI_Cart_rank(comm_, place.data(), &rank);
    return rank;
  }

  /// The pencil along `axis` of the rank at a place of the process grid. The other two dimensions
  /// are cut, in their order, by the row and the column.
  [[nodiscard]] Box box(Axis axis, const ProcessGrid& place) const {
    Box result{};
    std::size_t side = 0;
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      if (d == static_cast<std::size_t>(axis)) {
        result[d] = {0, points_per_side_};
      } else {
        result[d] = example::part_of(points_per_side_, dims_[side], place[side]);
        ++side;
      }
    }
    return result;
  }

 private:
  std::int64_t points_per_side_;
  ProcessGrid dims_;
  ProcessGrid own_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace fft
