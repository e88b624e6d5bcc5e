// SPDX-License-Identifier: Apache-2.0
// Bounds on the search of `optimize`, in Python's form.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "fairlead/mapping/optimize.hpp"

using Indices = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                  nanobind::device::cpu>;

/// How long to search, from where, and what must stay; empty arrays where nothing is given.
struct SearchLimits {
  std::uint64_t seed;
  std::int64_t num_proposals;
  double time_limit_s;
  int num_threads;
  std::vector<std::vector<std::int64_t>> starts;
  Indices fixed_host_of_rank;
  std::int64_t most_moves;
  std::function<bool(std::int64_t, std::int64_t)> on_progress;
  double deadline_s;

  [[nodiscard]] fairlead::OptimizeOptions options() const {
    fairlead::OptimizeOptions options{
        .seed = seed,
        .num_proposals = num_proposals,
        .time_limit_s = time_limit_s,
        .deadline_s = deadline_s,
        .num_threads = num_threads,
        .starts = starts,
        .fixed_host_of_rank = {fixed_host_of_rank.data(), fixed_host_of_rank.size()},
        .most_moves = most_moves,
        .on_progress = {}};
    if (on_progress) {
      options.on_progress = [this](const fairlead::OptimizeProgress& progress) {
        const nanobind::gil_scoped_acquire locked;
        return on_progress(progress.num_done, progress.num_all);
      };
    }
    return options;
  }
};
