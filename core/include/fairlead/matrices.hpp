// SPDX-License-Identifier: Apache-2.0
// Views of the two kinds of matrices for mapping: sparse between ranks, dense between hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead {

/// Square sparse matrix between ranks, [src, dst], in compressed rows. A view, which owns nothing.
struct RankMatrix {
  std::span<const std::int64_t> row_start;  ///< length T + 1
  std::span<const std::int64_t> column;     ///< length of `value`, each in [0, T)
  std::span<const double> value;            ///< finite, >= 0

  [[nodiscard]] std::size_t num_ranks() const { return row_start.size() - 1; }

  /// Calls `visit(src, dst, value)` for every stored entry that is not zero.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t src = 0; src < num_ranks(); ++src) {
      const auto begin = static_cast<std::size_t>(row_start[src]);
      const auto end = static_cast<std::size_t>(row_start[src + 1]);
      for (std::size_t entry = begin; entry < end; ++entry) {
        if (value[entry] != 0.0) visit(src, static_cast<std::size_t>(column[entry]), value[entry]);
      }
    }
  }
};

/// Square dense matrix between hosts, [src, dst], row-major. A view, which owns nothing.
struct HostMatrix {
  std::size_t num_hosts;
  std::span<const double> values;  ///< length num_hosts * num_hosts

  [[nodiscard]] double operator()(std::size_t src, std::size_t dst) const {
    return values[src * num_hosts + dst];
  }
};

/// Host of each rank, length T, each in [0, H).
using HostOfRank = std::span<const std::int64_t>;

}  // namespace fairlead
