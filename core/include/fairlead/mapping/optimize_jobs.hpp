// SPDX-License-Identifier: Apache-2.0
// Placements of many jobs under which messages are predicted to wait least.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/mapping/optimize.hpp"
#include "fairlead/sim/simulation.hpp"

namespace fairlead::sim {

/// Messages from one rank to another; ranks are numbered over all jobs.
struct RankStream {
  std::int64_t src_rank, dst_rank;  ///< never equal
  std::int64_t message_bytes;       ///< >= 0
  std::int64_t num_messages;        ///< >= 1
  double period_ns;                 ///< > 0
};

/// The jobs, the machine, and how it serves.
struct JobsProblem {
  Machine machine;
  std::vector<RankStream> streams;
  std::int64_t num_ranks;
  std::vector<std::int64_t> free_cores;  ///< ascending, at least one for each rank
  Options options;
};

/// A placement, and what the load model says of it.
struct PredictedPlacement {
  std::vector<std::int64_t> core_of_rank;
  double waiting_s;
};

/// What the load model predicts for `Simulator`: the sum of all waiting times. Closed loops are
/// taken as open ones, and cut-through as store and forward.
/// @throws InputError  a stream, the machine or a core is impossible
[[nodiscard]] double predicted_waiting_s(const JobsProblem& problem,
                                         std::span<const std::int64_t> core_of_rank);

/// What each walk of annealing on the load model ended with, least predicted waiting first. Walks
/// look for what is done no later than the first start, as far as the model tells. Same
/// seed and starts, same answer with any number of threads, unless the time limit cuts walks short.
/// @param options  its `starts` are cores of ranks, at least one; nothing is fixed
/// @throws InputError  as above, or there is no start
[[nodiscard]] std::vector<PredictedPlacement> optimize_jobs(const JobsProblem& problem,
                                                            const OptimizeOptions& options);

}  // namespace fairlead::sim
