// SPDX-License-Identifier: Apache-2.0
// How a run's proposals and time are divided among its parts.
#include "mapping/anneal/budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mapping/anneal/occupancy.hpp"

namespace fairlead::optimizing {
namespace {

// Proposals per task without a limit, the most of them in time, and the fewest of them where the
// tasks are very many.
constexpr std::int64_t kProposalsPerTask = 60'000;
constexpr double kMostSeconds = 2.0;
constexpr std::int64_t kFewestPerTask = 300;
constexpr std::int64_t kFewestProposals = 2'000'000;

/// Least length of a start before there are more starts: this number of proposals times a power of
/// the number of tasks, within bounds.
struct StartLength {
  double proposals;
  double power_of_tasks;
  double least;  ///< fewer are no walk that cools step by step
  double most;
  double most_starts;
};
// Measured by bench/placement: with shorter starts, more of them are worse than longer ones.
constexpr StartLength kOfTasks{.proposals = 0.125,
                               .power_of_tasks = 3.5,
                               .least = 8192,
                               .most = std::numeric_limits<double>::infinity(),
                               .most_starts = 64};
// One slot on each host, bench/placement/qaplib.py: small ones need many starts, large ones few,
// but more than one, as they are heated differently.
constexpr StartLength kOfAssignments{
    .proposals = 0.25, .power_of_tasks = 4.0, .least = 32768, .most = 6e7, .most_starts = 1024};
// Most proposals for improving a given placement, and its part of a short run.
constexpr std::int64_t kRefiningPerTask = 200;
constexpr std::int64_t kLeastPartToRefine = 4;
constexpr double kLongestBudget_s = 1e5;
// The part of a run that a multisection should take, and the most that it may; more tries than
// these gain nothing (bench/placement/large.py).
constexpr double kPartToCut = 0.4;
constexpr double kMostPartToCut = 0.6;
constexpr int kMostCuts = 16;
// When a run without any limit ends on any machine: about fifteen times its time on a common one. A
// run that ends by it depends on the machine, so it is far off.
constexpr double kLongestRun_s = 30.0;
constexpr double kLongestRunPerTask_s = 4e-4;

/// Puts the fixed tasks on their hosts by swaps with others that are there.
HostOfTask with_fixed(HostOfTask host_of_task, const SlotsOfHost& slots,
                      std::span<const std::int64_t> fixed_host_of_rank) {
  Occupancy occupancy(slots, host_of_task);
  for (std::size_t task = 0; task < fixed_host_of_rank.size(); ++task) {
    const auto host = static_cast<std::int32_t>(fixed_host_of_rank[task]);
    if (host < 0 || occupancy.host_of(static_cast<std::int32_t>(task)) == host) continue;
    const auto occupants = occupancy.occupants(host);
    const auto other = std::ranges::find_if(occupants, [&](std::int32_t occupant) {
      return !occupancy.is_task(occupant) ||
             fixed_host_of_rank[static_cast<std::size_t>(occupant)] != host;
    });
    occupancy.swap(static_cast<std::int32_t>(task), *other);
  }
  const auto hosts = occupancy.host_of_task();
  return {hosts.begin(), hosts.end()};
}

}  // namespace

std::vector<std::int32_t> narrow(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}

Placement widen(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}

std::vector<std::int32_t> in_order(std::int32_t number) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(number));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

HostOfTask filled(const SlotsOfHost& slots, std::int32_t num_tasks,
                  std::span<const std::int32_t> hosts) {
  HostOfTask host_of_task;
  for (const std::int32_t host : hosts) {
    for (std::int32_t slot = 0; slot < slots[static_cast<std::size_t>(host)]; ++slot) {
      if (static_cast<std::int32_t>(host_of_task.size()) == num_tasks) return host_of_task;
      host_of_task.push_back(host);
    }
  }
  return host_of_task;
}

Budget::Budget(const OptimizeOptions& given, std::span<const std::int64_t> slots_of_host,
               std::size_t num_ranks, double proposals_per_s, bool is_matrix_sum, Timer begun,
               double cut_s)
    : options(given),
      slots(narrow(slots_of_host)),
      num_tasks(static_cast<std::int32_t>(num_ranks)),
      timer(begun),
      end_s(std::min(given.time_limit_s, given.deadline_s)) {
  const auto in_time = [proposals_per_s](double time_s) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(time_s * proposals_per_s));
  };
  std::int64_t wanted = given.num_proposals;
  const bool is_timed = wanted <= 0 && std::isfinite(given.time_limit_s);
  if (is_timed) {
    wanted = in_time(std::min(given.time_limit_s, kLongestBudget_s));
  } else if (wanted <= 0) {
    end_s = std::min(end_s, kLongestRun_s + kLongestRunPerTask_s * num_tasks);
    wanted = std::max(
        kFewestPerTask * num_tasks,
        std::min(std::max(kProposalsPerTask * num_tasks, kFewestProposals), in_time(kMostSeconds)));
  }
  const double planned_s = static_cast<double>(wanted) / proposals_per_s;
  num_cuts = cut_s > 0.0 && cut_s < kMostPartToCut * planned_s && is_free()
                 ? std::clamp(static_cast<int>(kPartToCut * planned_s / cut_s), 1, kMostCuts)
                 : 0;
  part_to_cut = num_cuts * cut_s / planned_s;
  const auto all = static_cast<double>(wanted);
  wanted -= static_cast<std::int64_t>(part_to_cut * all);
  const bool is_refining = is_free() && (num_cuts > 0 || (is_matrix_sum && !given.starts.empty()));
  proposals_to_refine =
      is_refining ? std::min(wanted / kLeastPartToRefine, kRefiningPerTask * num_tasks) : 0;
  part_to_refine = static_cast<double>(proposals_to_refine) / all;
  wanted -= proposals_to_refine;
  const StartLength& length =
      is_matrix_sum && is_free() && is_assignment() ? kOfAssignments : kOfTasks;
  const double fewest_per_start =
      std::clamp(length.proposals * std::pow(std::max(1, num_tasks), length.power_of_tasks),
                 length.least, length.most);
  // A time limit holds for each thread; a search without one is the same with any number of them.
  const int num_planned = is_timed ? std::max(1, given.num_threads) : 1;
  num_starts = static_cast<int>(std::clamp(
      static_cast<double>(wanted) * num_planned / fewest_per_start, 1.0, length.most_starts));
  const int most_of_a_thread = (num_starts + num_planned - 1) / num_planned;
  proposals_per_start = wanted / most_of_a_thread;
  part_of_start = (1.0 - part_to_cut - part_to_refine) / most_of_a_thread;
  // Without a limit each may take all remaining time, so that short delays do not change the
  // answer.
  if (!is_timed) part_to_cut = part_to_refine = part_of_start = 1.0;
  for (const Placement& start : given.starts) {
    starts.push_back(with_fixed(narrow(start), slots, given.fixed_host_of_rank));
    if (is_bound()) break;  // only what is near the first one is allowed
  }
  if (starts.empty()) {
    starts.push_back(
        with_fixed(filled(slots, num_tasks, in_order(static_cast<std::int32_t>(slots.size()))),
                   slots, given.fixed_host_of_rank));
  }
}

MoveConstraints Budget::constraints() const {
  if (is_free()) return MoveConstraints(num_tasks);
  std::vector<char> is_fixed(static_cast<std::size_t>(num_tasks), 0);
  for (std::size_t task = 0; task < options.fixed_host_of_rank.size(); ++task) {
    is_fixed[task] = options.fixed_host_of_rank[task] >= 0 ? 1 : 0;
  }
  const std::int64_t most_away =
      is_bound() ? options.most_moves : std::numeric_limits<std::int64_t>::max();
  return {is_fixed, starts.front(), most_away, starts.front()};
}

}  // namespace fairlead::optimizing
