// SPDX-License-Identifier: Apache-2.0
// Jobs on four nodes of two sockets, and what the simulator says of their placements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "fairlead/mapping/optimize_jobs.hpp"
#include "fairlead/sim/simulation.hpp"

namespace fairlead::sim {

using Cores = std::vector<std::int64_t>;

constexpr Machine kMachine{.num_nodes = 4,
                           .sockets_per_node = 2,
                           .cores_per_socket = 3,
                           .nic_Bps = 1e9,
                           .memory_Bps = 4e9,
                           .remote_memory_ratio = 0.1,
                           .cache_Bps = 8e9,
                           .largest_cache_bytes = 1 << 20,
                           .switch_ns = 0};
constexpr std::int64_t kCoresPerNode = 6;

inline Cores all_cores() {
  Cores cores(static_cast<std::size_t>(kMachine.num_sockets() * kMachine.cores_per_socket));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

inline JobsProblem problem_of(std::vector<RankStream> streams, std::int64_t num_ranks,
                              const Options& options = {}) {
  return {.machine = kMachine,
          .streams = std::move(streams),
          .num_ranks = num_ranks,
          .free_cores = all_cores(),
          .options = options};
}

/// All messages as one job, one by one.
inline JobOutcome simulated(const JobsProblem& problem, const Cores& core_of_rank) {
  std::vector<MessageStream> streams;
  for (const RankStream& stream : problem.streams) {
    streams.push_back({.job = 0,
                       .src_core = core_of_rank[static_cast<std::size_t>(stream.src_rank)],
                       .dst_core = core_of_rank[static_cast<std::size_t>(stream.dst_rank)],
                       .message_bytes = stream.message_bytes,
                       .num_messages = stream.num_messages,
                       .period_ns = stream.period_ns,
                       .first_ns = 0.0});
  }
  Simulator simulator(problem.machine, streams, 1, problem.options);
  while (simulator.advance(1'000'000)) {
  }
  return simulator.jobs().front();
}

}  // namespace fairlead::sim
