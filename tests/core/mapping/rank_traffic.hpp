// SPDX-License-Identifier: Apache-2.0
// Traffic between ranks that owns its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "fairlead/mapping/placement_cost.hpp"

using Indices = std::vector<std::int64_t>;

/// Owns what a RankMatrix looks at.
struct Traffic {
  Indices row_start{0}, column;
  std::vector<double> value;

  explicit Traffic(const std::vector<std::vector<double>>& dense) {
    for (const auto& row : dense) {
      for (std::size_t dst = 0; dst < row.size(); ++dst) {
        column.push_back(static_cast<std::int64_t>(dst));
        value.push_back(row[dst]);
      }
      row_start.push_back(static_cast<std::int64_t>(column.size()));
    }
  }
  [[nodiscard]] fairlead::RankMatrix view() const {
    return {.row_start = row_start, .column = column, .value = value};
  }
};

inline Traffic random_traffic(std::size_t num_ranks, std::mt19937& random) {
  std::lognormal_distribution<double> bytes(20.0, 5.0);
  std::vector<std::vector<double>> dense(num_ranks, std::vector<double>(num_ranks, 0.0));
  for (auto& row : dense) {
    for (double& value : row) value = bytes(random);
  }
  return Traffic(dense);
}
