// SPDX-License-Identifier: Apache-2.0
// Rounds of trials: in each round every algorithm has its turn, so that load from elsewhere meets
// all.
#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "fairlead/error.hpp"
#include "slower_algorithms.hpp"

namespace fairlead::tune {
namespace {

constexpr int kMostCalls = 100;
/// The first rounds, after which algorithms may be dropped.
constexpr int kTrialRounds = 4;

/// The largest over all ranks.
double slowest(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

bool all_of(bool mine, MPI_Comm comm) {
  return slowest(mine ? 0.0 : 1.0, comm) < 0.5;
}

/// An algorithm of the call, with the buffers for it.
class Algorithm {
 public:
  /// On the communicator as it is.
  Algorithm(Calls calls, Trial& trial) : calls_(std::move(calls)), trial_(&trial) {}

  /// On a communicator of its own. Not available where the library does not have the settings.
  Algorithm(const NativeAlgorithm& native, MPI_Comm comm, Trial& trial)
      : settings_(native.settings), trial_(&trial) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto place = std::find(native.order.begin(), native.order.end(), rank);
    const int key = native.order.empty() ? rank : static_cast<int>(place - native.order.begin());
    try {
      const ScopedSettings set(settings_);
      MPI_Comm_split(comm, 0, key, &comm_);
      calls_ = native_calls(comm_);
    } catch (const InputError&) {
      is_available_ = false;
    }
  }
  ~Algorithm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  Algorithm(const Algorithm&) = delete;
  Algorithm& operator=(const Algorithm&) = delete;

  [[nodiscard]] bool is_available() const { return is_available_; }
  [[nodiscard]] Trial& trial() const { return *trial_; }

  /// Seconds of `num_calls` calls on this rank, without the waiting between them; a negative number
  /// where one of them failed.
  double run(int num_calls, MPI_Comm comm) const {
    const ScopedSettings set(settings_);
    double total_s = 0;
    bool has_failed = false;
    for (int call = 0; call < num_calls; ++call) {
      MPI_Barrier(comm);
      const double begin_s = MPI_Wtime();
      has_failed = trial_->run(calls_) != MPI_SUCCESS || has_failed;
      total_s += MPI_Wtime() - begin_s;
    }
    return has_failed ? -1.0 : total_s;
  }

 private:
  std::vector<NativeSetting> settings_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Calls calls_;
  Trial* trial_;
  bool is_available_ = true;
};

using Algorithms = std::vector<std::unique_ptr<Algorithm>>;

/// Buffers for the ranks of the communicator, and for those of each other order.
class Trials {
 public:
  Trials(const Call& call, MPI_Comm comm) : call_(call) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &num_ranks_);
  }

  Trial& in_order(const std::vector<int>& order) {
    const auto found = trials_.find(order);
    if (found != trials_.end()) return found->second;
    const auto place = std::find(order.begin(), order.end(), rank_);
    const int rank = order.empty() ? rank_ : static_cast<int>(place - order.begin());
    return trials_.try_emplace(order, call_, rank, num_ranks_).first->second;
  }

 private:
  Call call_;
  int rank_ = 0;
  int num_ranks_ = 0;
  std::map<std::vector<int>, Trial> trials_;
};

Algorithms algorithms_of(const Order& order, MPI_Comm comm, Trials& trials) {
  Algorithms algorithms;
  Trial& trial = trials.in_order({});
  algorithms.push_back(std::make_unique<Algorithm>(native_calls(comm), trial));
  for (const NativeAlgorithm& native : order.natives) {
    algorithms.push_back(std::make_unique<Algorithm>(native, comm, trials.in_order(native.order)));
  }
  if (order.schedules.empty()) return algorithms;
  collectives::Members* members = nullptr;
  if (collectives::Members::attach(comm, order.host_of_rank, members) != MPI_SUCCESS) {
    throw InputError("order: communicators for schedules cannot be made");
  }
  for (const collectives::Schedule& schedule : order.schedules) {
    algorithms.push_back(std::make_unique<Algorithm>(planned_calls(schedule, *members), trial));
  }
  return algorithms;
}

/// The first call of each may set things up; what it delivers is looked at.
std::vector<bool> warm_up(const Algorithms& algorithms, MPI_Comm comm) {
  std::vector<bool> is_right;
  for (const auto& algorithm : algorithms) {
    if (!algorithm->is_available()) {
      is_right.push_back(false);
      continue;
    }
    algorithm->trial().spoil();
    const bool has_run = algorithm->run(1, comm) >= 0;
    is_right.push_back(all_of(has_run && algorithm->trial().is_right(), comm));
  }
  return is_right;
}

}  // namespace

ComparisonResult compare(const Order& order, MPI_Comm comm) {
  Trials trials(order.call, comm);
  const double begin_s = MPI_Wtime();
  const Algorithms algorithms = algorithms_of(order, comm, trials);
  ComparisonResult result{.is_right = warm_up(algorithms, comm)};
  const double first_s = std::max(1e-9, slowest(algorithms.front()->run(1, comm), comm));
  result.num_calls =
      static_cast<int>(std::clamp(std::ceil(order.trial_s / first_s), 1.0, double{kMostCalls}));
  std::vector<bool> is_timed = result.is_right;
  for (int round = 0; round < order.max_rounds; ++round) {
    if (round == kTrialRounds && order.drops_slower) drop_slower(result.rounds_s, is_timed);
    const double spent_s = MPI_Wtime() - begin_s;
    const bool is_wanted =
        spent_s <= order.limit_s && (round < order.min_rounds || spent_s <= order.time_s);
    const bool is_decided =
        round >= kTrialRounds && std::count(is_timed.begin() + 1, is_timed.end(), true) == 0;
    // The clock of rank 0 decides for all.
    int goes_on = round == 0 || (!is_decided && is_wanted) ? 1 : 0;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, comm);
    if (goes_on == 0) break;
    std::vector<double>& row = result.rounds_s.emplace_back(algorithms.size(), 0.0);
    for (std::size_t turn = 0; turn < algorithms.size(); ++turn) {
      // Another one begins each round, so that none always follows the same other.
      const std::size_t algorithm = (turn + static_cast<std::size_t>(round)) % algorithms.size();
      if (!is_timed[algorithm]) continue;
      row[algorithm] =
          slowest(algorithms[algorithm]->run(result.num_calls, comm), comm) / result.num_calls;
    }
  }
  return result;
}

}  // namespace fairlead::tune
