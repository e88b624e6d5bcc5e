// SPDX-License-Identifier: Apache-2.0
// Concurrent walks from the given placements, each with its own temperature.
#include "fairlead/mapping/optimize_jobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "mapping/anneal/starts.hpp"
#include "mapping/jobs/jobs_walk.hpp"
#include "sim/checks.hpp"

namespace fairlead::sim {

using optimizing::Occupancy;
using optimizing::StopCriterion;

namespace {

// The search without a limit, measured by bench/spread: proposals per rank and walk, and walks for
// each start. With more, no placement was better in the simulator.
constexpr std::int64_t kProposalsPerRank = 400;
constexpr int kWalksPerStart = 4;
// Temperatures in units of the mean change of a swap: a cool walk keeps what is good in a start, a
// hot one loses it.
constexpr std::array<double, 4> kHot{0.03, 0.1, 0.5, 2.0};
constexpr double kCold = 1e-4;
// Proposals per second of common cores, to plan a run by time; on slower ones walks cool faster.
constexpr double kProposalsPerS = 2e5;
constexpr double kLongestPlan_s = 1e5;

using Sockets = std::vector<std::int32_t>;

/// Free cores of the machine by socket.
class FreeCores {
 public:
  explicit FreeCores(const JobsProblem& problem)
      : cores_of_socket_(static_cast<std::size_t>(problem.machine.num_sockets())) {
    for (const std::int64_t core : problem.free_cores) {
      const std::int64_t socket = problem.machine.socket_of_core(core);
      cores_of_socket_[static_cast<std::size_t>(socket)].push_back(core);
    }
  }

  [[nodiscard]] std::vector<std::int32_t> slots() const {
    std::vector<std::int32_t> slots;
    for (const auto& cores : cores_of_socket_) {
      slots.push_back(static_cast<std::int32_t>(cores.size()));
    }
    return slots;
  }

  /// The free cores of each socket, rank after rank.
  [[nodiscard]] std::vector<std::int64_t> cores(const Sockets& socket_of_rank) const {
    std::vector<std::size_t> num_used(cores_of_socket_.size(), 0);
    std::vector<std::int64_t> core_of_rank;
    for (const std::int32_t socket : socket_of_rank) {
      const auto index = static_cast<std::size_t>(socket);
      core_of_rank.push_back(cores_of_socket_[index][num_used[index]++]);
    }
    return core_of_rank;
  }

 private:
  std::vector<std::vector<std::int64_t>> cores_of_socket_;
};

void check_problem(const JobsProblem& problem) {
  check(problem.machine);
  require(problem.num_ranks >= 1, "jobs: at least one rank is needed");
  require(
      std::ranges::is_sorted(problem.free_cores) && !problem.free_cores.empty() &&
          problem.free_cores.front() >= 0 &&
          problem.machine.socket_of_core(problem.free_cores.back()) < problem.machine.num_sockets(),
      "free cores: must ascend, and be cores of the machine");
  require(problem.num_ranks <= static_cast<std::int64_t>(problem.free_cores.size()),
          "jobs: more ranks than free cores");
  for (const RankStream& stream : problem.streams) {
    for (const std::int64_t rank : {stream.src_rank, stream.dst_rank}) {
      require(rank >= 0 && rank < problem.num_ranks, "stream: rank " + std::to_string(rank) +
                                                         " is not one of " +
                                                         std::to_string(problem.num_ranks));
    }
    require(stream.src_rank != stream.dst_rank, "stream: its two ranks are the same");
    require(stream.message_bytes >= 0 && stream.num_messages >= 1 &&
                std::isfinite(stream.period_ns) && stream.period_ns > 0.0,
            "stream: a size >= 0, a message and a period > 0 are needed");
  }
}

Sockets sockets_of(const JobsProblem& problem, std::span<const std::int64_t> core_of_rank) {
  require(static_cast<std::int64_t>(core_of_rank.size()) == problem.num_ranks,
          "placement: expected a core for each of " + std::to_string(problem.num_ranks) +
              " ranks, got " + std::to_string(core_of_rank.size()));
  std::vector<std::int64_t> used(core_of_rank.begin(), core_of_rank.end());
  std::ranges::sort(used);
  require(std::ranges::adjacent_find(used) == used.end() &&
              std::ranges::includes(problem.free_cores, used),
          "placement: each rank needs a free core of its own");
  Sockets sockets;
  for (const std::int64_t core : core_of_rank) {
    sockets.push_back(static_cast<std::int32_t>(problem.machine.socket_of_core(core)));
  }
  return sockets;
}

}  // namespace

double predicted_waiting_s(const JobsProblem& problem, std::span<const std::int64_t> core_of_rank) {
  check_problem(problem);
  const JobStreams streams(problem);
  const Occupancy occupancy(FreeCores(problem).slots(), sockets_of(problem, core_of_rank));
  return LoadState(problem, streams, occupancy).waiting_ns() / 1e9;
}

std::vector<PredictedPlacement> optimize_jobs(const JobsProblem& problem,
                                              const OptimizeOptions& options) {
  check_problem(problem);
  require(!options.starts.empty(), "optimize: at least one start is needed");
  const JobStreams streams(problem);
  const FreeCores free_cores(problem);
  const std::vector<std::int32_t> slots = free_cores.slots();
  std::vector<Sockets> starts;
  for (const auto& start : options.starts) starts.push_back(sockets_of(problem, start));

  const int num_walks = kWalksPerStart * static_cast<int>(starts.size());
  std::int64_t num_proposals = options.num_proposals / num_walks;
  if (num_proposals <= 0) {
    num_proposals = std::isfinite(options.time_limit_s)
                        ? static_cast<std::int64_t>(
                              std::min(options.time_limit_s, kLongestPlan_s) * kProposalsPerS *
                              std::clamp(options.num_threads, 1, num_walks) / num_walks)
                        : kProposalsPerRank * problem.num_ranks;
  }
  const double limit_s =
      options.time_limit_s * std::clamp(options.num_threads, 1, num_walks) / num_walks;
  const double latest_ns = LoadState(problem, streams, Occupancy(slots, starts.front())).done_ns();
  const auto walk = [&](int number, StopCriterion& stop) {
    const auto start = static_cast<std::size_t>(number) % starts.size();
    const auto round = static_cast<std::size_t>(number) / starts.size();
    LoadState state(problem, streams, Occupancy(slots, starts[start]));
    JobsWalk its(state, streams, problem.machine.sockets_per_node,
                 static_cast<std::int64_t>(problem.free_cores.size()), latest_ns,
                 Random(options.seed, static_cast<std::uint64_t>(number)));
    const double unit_ns = its.typical_change_ns();
    if (unit_ns > 0.0) {
      its.run(kHot[round] * unit_ns, kCold * unit_ns, std::max<std::int64_t>(1, num_proposals),
              limit_s, stop);
    }
    return its.best_socket_of_rank();
  };
  std::vector<PredictedPlacement> found;
  for (const Sockets& sockets : optimizing::run_starts(
           options, num_walks, std::max<std::int64_t>(1, num_proposals) * num_walks, walk)) {
    if (sockets.empty()) continue;  // not begun in time
    const LoadState state(problem, streams, Occupancy(slots, sockets));
    found.push_back({free_cores.cores(sockets), state.waiting_ns() / 1e9});
  }
  std::ranges::stable_sort(found, {}, &PredictedPlacement::waiting_s);
  return found;
}

}  // namespace fairlead::sim
