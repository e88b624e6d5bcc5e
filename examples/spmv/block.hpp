// SPDX-License-Identifier: Apache-2.0
// One task's part of the Laplacian of a cube: its rows as a sparse matrix, and its neighbours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../common/options.hpp"
#include "../common/ranges.hpp"

namespace spmv {

using example::Range;

inline constexpr std::size_t kNumDimensions = 3;
using Place = std::array<int, kNumDimensions>;

/// Tasks in each dimension: as near to a cube as their number allows.
[[nodiscard]] inline Place task_grid(int num_tasks) {
  Place best = {num_tasks, 1, 1};
  for (int x = 1; x <= num_tasks; ++x) {
    if (num_tasks % x != 0) continue;
    for (int y = x; y <= num_tasks / x; ++y) {
      const int z = num_tasks / x / y;
      if (x * y * z == num_tasks && z >= y && z - x < best[0] - best[2]) best = {z, y, x};
    }
  }
  return best;
}

/// The cube of points, cut into a box for each task; the last dimension runs fastest in both.
class Boxes {
 public:
  /// @throws example::UsageError A task would own no point.
  Boxes(std::int64_t points_per_side, const Place& grid) : size_(points_per_side), grid_(grid) {
    for (const int tasks : grid) {
      if (points_per_side < tasks) {
        throw example::UsageError("--size: " + std::to_string(points_per_side) +
                                  " is too small for " + std::to_string(tasks) + " tasks in a row");
      }
    }
  }

  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const Place& grid() const { return grid_; }
  [[nodiscard]] Place place_of(int task) const {
    return {task / (grid_[1] * grid_[2]), task / grid_[2] % grid_[1], task % grid_[2]};
  }
  [[nodiscard]] int task_at(const Place& place) const {
    return (place[0] * grid_[1] + place[1]) * grid_[2] + place[2];
  }
  [[nodiscard]] std::array<Range, kNumDimensions> box_of(int task) const {
    const Place place = place_of(task);
    std::array<Range, kNumDimensions> box;
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      box[d] = example::part_of(size_, grid_[d], place[d]);
    }
    return box;
  }
  /// Mean coordinates of its points, as ORACLE section V gives them to the geometric mapping.
  [[nodiscard]] std::array<double, kNumDimensions> middle_of(int task) const {
    const auto box = box_of(task);
    std::array<double, kNumDimensions> middle{};
    for (std::size_t d = 0; d < kNumDimensions; ++d) {
      middle[d] = static_cast<double>(box[d].begin + box[d].end - 1) / 2.0;
    }
    return middle;
  }
  [[nodiscard]] std::size_t num_points(int task) const {
    const auto box = box_of(task);
    return box[0].size() * box[1].size() * box[2].size();
  }

 private:
  std::int64_t size_;
  Place grid_;
};

/// What a task exchanges with one of its neighbours, in the same order on both sides.
struct Face {
  int neighbour;                   ///< A task.
  std::vector<std::int32_t> sent;  ///< Own points whose values it needs.
  std::int32_t first_ghost;        ///< Where its values stand here, after the own points.
  [[nodiscard]] std::size_t num_points() const { return sent.size(); }
};

/// The rows of a task, in compressed form; columns are own points, then ghosts.
struct Matrix {
  std::vector<std::int32_t> first_entry_of_row;
  std::vector<std::int32_t> column_of_entry;
  std::vector<double> value_of_entry;
};

/// Faces of a task, by dimension, lower before upper.
[[nodiscard]] inline std::vector<Face> faces_of(const Boxes& boxes, int task) {
  const auto box = boxes.box_of(task);
  const std::array<std::int64_t, kNumDimensions> lengths = {box[0].length(), box[1].length(),
                                                            box[2].length()};
  std::vector<Face> faces;
  auto ghost = static_cast<std::int32_t>(boxes.num_points(task));
  for (std::size_t d = 0; d < kNumDimensions; ++d) {
    for (const int step : {-1, 1}) {
      Place place = boxes.place_of(task);
      place[d] += step;
      if (place[d] < 0 || place[d] >= boxes.grid()[d]) continue;
      Face face{boxes.task_at(place), {}, ghost};
      std::array<std::int64_t, kNumDimensions> at{};
      for (at[0] = 0; at[0] < lengths[0]; ++at[0]) {
        for (at[1] = 0; at[1] < lengths[1]; ++at[1]) {
          for (at[2] = 0; at[2] < lengths[2]; ++at[2]) {
            if (at[d] != (step < 0 ? 0 : lengths[d] - 1)) continue;
            face.sent.push_back(
                static_cast<std::int32_t>((at[0] * lengths[1] + at[1]) * lengths[2] + at[2]));
          }
        }
      }
      ghost += static_cast<std::int32_t>(face.sent.size());
      faces.push_back(std::move(face));
    }
  }
  return faces;
}

/// I - step * Laplacian on the rows of a task: one explicit step of heat flow, boundary at zero.
[[nodiscard]] inline Matrix matrix_of(const Boxes& boxes, int task, double step) {
  const auto box = boxes.box_of(task);
  const std::vector<Face> faces = faces_of(boxes, task);
  Matrix matrix;
  matrix.first_entry_of_row.push_back(0);
  // How many points of each face have been met: they come in the order of the rows.
  std::vector<std::int32_t> num_met(faces.size(), 0);
  const auto add = [&matrix](std::int64_t column, double value) {
    matrix.column_of_entry.push_back(static_cast<std::int32_t>(column));
    matrix.value_of_entry.push_back(value);
  };
  const std::array<std::int64_t, kNumDimensions> strides = {box[1].length() * box[2].length(),
                                                            box[2].length(), 1};
  std::array<std::int64_t, kNumDimensions> at{};
  std::int64_t row = 0;
  for (at[0] = box[0].begin; at[0] < box[0].end; ++at[0]) {
    for (at[1] = box[1].begin; at[1] < box[1].end; ++at[1]) {
      for (at[2] = box[2].begin; at[2] < box[2].end; ++at[2], ++row) {
        add(row, 1.0 - 6.0 * step);
        std::size_t face = 0;
        for (std::size_t d = 0; d < kNumDimensions; ++d) {
          for (const int way : {-1, 1}) {
            const std::int64_t there = at[d] + way;
            const bool is_box_at_end = way < 0 ? box[d].begin == 0 : box[d].end == boxes.size();
            if (box[d].has(there)) {
              add(row + way * strides[d], step);
            } else if (there >= 0 && there < boxes.size()) {
              add(faces[face].first_ghost + num_met[face]++, step);
            }
            if (!is_box_at_end) ++face;
          }
        }
        matrix.first_entry_of_row.push_back(
            static_cast<std::int32_t>(matrix.column_of_entry.size()));
      }
    }
  }
  return matrix;
}

/// `out = matrix * in` for several vectors at once.
/// @param in Own points, then ghosts, shape (points, vectors). @param out Shape (rows, vectors).
inline void multiply(const Matrix& matrix, std::size_t num_vectors, std::span<const double> in,
                     std::span<double> out) {
  const std::size_t num_rows = matrix.first_entry_of_row.size() - 1;
  for (std::size_t row = 0; row < num_rows; ++row) {
    double* const sums = out.data() + row * num_vectors;
    for (std::size_t v = 0; v < num_vectors; ++v) sums[v] = 0.0;
    const auto begin = static_cast<std::size_t>(matrix.first_entry_of_row[row]);
    const auto end = static_cast<std::size_t>(matrix.first_entry_of_row[row + 1]);
    for (std::size_t entry = begin; entry < end; ++entry) {
      const double value = matrix.value_of_entry[entry];
      const double* const values =
          in.data() + static_cast<std::size_t>(matrix.column_of_entry[entry]) * num_vectors;
      for (std::size_t v = 0; v < num_vectors; ++v) sums[v] += value * values[v];
    }
  }
}

}  // namespace spmv
