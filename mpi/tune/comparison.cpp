// SPDX-License-Identifier: Apache-2.0
// Rounds of trials: in each round every way has its turn, so that load from elsewhere meets all.
#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "fairlead/error.hpp"

namespace fairlead::tune {
namespace {

constexpr int kMostCalls = 100;
/// The first rounds, after which ways may be dropped.
constexpr int kTrialRounds = 4;

/// The largest over all ranks.
double slowest(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

bool all_of(bool mine, MPI_Comm comm) {
  return slowest(mine ? 0.0 : 1.0, comm) < 0.5;
}

/// A way of making the call. A setting of the library has a communicator of its own.
class Way {
 public:
  explicit Way(Calls calls) : calls_(std::move(calls)) {}
  Way(const NativeSetting& setting, MPI_Comm comm) : setting_(setting) {
    const ScopedSetting set(setting);
    MPI_Comm_dup(comm, &comm_);
    calls_ = native_calls(comm_);
  }
  ~Way() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  /// Seconds of `num_calls` calls on this rank, without the waiting between them; a negative number
  /// where one of them failed.
  double run(Trial& trial, int num_calls, MPI_Comm comm) const {
    std::optional<ScopedSetting> set;
    if (setting_) set.emplace(*setting_);
    double total_s = 0;
    bool has_failed = false;
    for (int call = 0; call < num_calls; ++call) {
      MPI_Barrier(comm);
      const double begin_s = MPI_Wtime();
      has_failed = trial.run(calls_) != MPI_SUCCESS || has_failed;
      total_s += MPI_Wtime() - begin_s;
    }
    return has_failed ? -1.0 : total_s;
  }

 private:
  std::optional<NativeSetting> setting_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Calls calls_;
};

using Ways = std::vector<std::unique_ptr<Way>>;

Ways ways_of(const Order& order, MPI_Comm comm) {
  Ways ways;
  ways.push_back(std::make_unique<Way>(native_calls(comm)));
  for (const NativeSetting& setting : order.settings) {
    ways.push_back(std::make_unique<Way>(setting, comm));
  }
  if (order.schedules.empty()) return ways;
  collectives::Members* members = nullptr;
  if (collectives::Members::attach(comm, order.host_of_rank, members) != MPI_SUCCESS) {
    throw InputError("order: communicators for schedules cannot be made");
  }
  for (const collectives::Schedule& schedule : order.schedules) {
    ways.push_back(std::make_unique<Way>(planned_calls(schedule, *members)));
  }
  return ways;
}

/// The first call of each may set things up; what it delivers is looked at.
std::vector<bool> warm_up(const Ways& ways, Trial& trial, MPI_Comm comm) {
  std::vector<bool> is_right;
  for (const auto& way : ways) {
    trial.spoil();
    const bool has_run = way->run(trial, 1, comm) >= 0;
    is_right.push_back(all_of(has_run && trial.is_right(), comm));
  }
  return is_right;
}

void drop_slower(const std::vector<std::vector<double>>& rounds_s, std::vector<bool>& is_timed) {
  for (std::size_t way = 1; way < is_timed.size(); ++way) {
    const bool is_slower =
        std::all_of(rounds_s.begin(), rounds_s.end(),
                    [way](const std::vector<double>& row) { return row[way] >= row[0]; });
    if (is_slower) is_timed[way] = false;
  }
}

}  // namespace

ComparisonResult compare(const Order& order, MPI_Comm comm) {
  int rank = 0, num_ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  Trial trial(order.call, rank, num_ranks);
  const double begin_s = MPI_Wtime();
  const Ways ways = ways_of(order, comm);
  ComparisonResult result{.is_right = warm_up(ways, trial, comm)};
  const double first_s = std::max(1e-9, slowest(ways.front()->run(trial, 1, comm), comm));
  result.num_calls =
      static_cast<int>(std::clamp(std::ceil(order.trial_s / first_s), 1.0, double{kMostCalls}));
  std::vector<bool> is_timed = result.is_right;
  for (int round = 0; round < order.max_rounds; ++round) {
    if (round == kTrialRounds && order.drops_slower) drop_slower(result.rounds_s, is_timed);
    const bool is_late = MPI_Wtime() - begin_s > order.time_s;
    const bool is_decided =
        round >= kTrialRounds && std::count(is_timed.begin() + 1, is_timed.end(), true) == 0;
    // The clock of rank 0 decides for all.
    int goes_on = !is_decided && (round < order.min_rounds || !is_late) ? 1 : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, comm);
    if (goes_on == 0) break;
    std::vector<double>& row = result.rounds_s.emplace_back(ways.size(), 0.0);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      // Another one begins each round, so that none always follows the same other.
      const std::size_t way = (turn + static_cast<std::size_t>(round)) % ways.size();
      if (!is_timed[way]) continue;
      row[way] = slowest(ways[way]->run(trial, result.num_calls, comm), comm) / result.num_calls;
    }
  }
  return result;
}

}  // namespace fairlead::tune
