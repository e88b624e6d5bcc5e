// SPDX-License-Identifier: Apache-2.0
// Placements of many jobs with the least predicted waiting of messages.
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

/// The jobs, the machine, and the options of the simulator.
struct JobsProblem {
  Machine machine;
  std::vector<RankStream> streams;
  std::int64_t num_ranks;
  std::vector<std::int64_t> free_cores;  ///< ascending, at least one for each rank
  Options options;
};

/// A placement with the load model's prediction.
struct PredictedPlacement {
  std::vector<std::int64_t> core_of_rank;
  double waiting_s;
};

/// The load model's prediction of the `Simulator`'s sum of all waiting times. Closed loops are
/// treated as open ones, and cut-through as store and forward.
/// @throws InputError  a stream, the machine or a core is impossible
[[nodiscard]] double predicted_waiting_s(const JobsProblem& problem,
                                         std::span<const std::int64_t> core_of_rank);

/// The result of each walk of annealing on the load model, least predicted waiting first. Walks
/// search for placements that end no later than the first start, by the model. The same seed and
/// starts give the same answer with any number of threads, unless the time limit cuts walks short.
/// @param options  its `starts` are cores of ranks, at least one; nothing is fixed
/// @throws InputError  as above, or there is no start
[[nodiscard]] std::vector<PredictedPlacement> optimize_jobs(const JobsProblem& problem,
                                                            const OptimizeOptions& options);

}  // namespace fairlead::sim
