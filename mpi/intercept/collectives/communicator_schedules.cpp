// SPDX-License-Identifier: Apache-2.0
// Rank 0 plans and tells the others: computers may differ in the last digit of a prediction.
#include "collectives/communicator_schedules.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "collectives/agreed_times.hpp"
#include "collectives/current_network.hpp"
#include "collectives/pair_probe.hpp"
#include "fairlead/collectives/planning.hpp"
#include "operations.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/returned_errors.hpp"
#include "schedule_json.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;
using executors::kNoHost;
using executors::Operation;

constexpr int kPlanner = 0;

bool is_whole_vector(Operation operation) {
  return operation == Operation::bcast || operation == Operation::reduce ||
         operation == Operation::allreduce;
}

/// Sizes from one power of two to the next share a schedule, which is planned for the first of them
/// that is called with.
int size_class_of(std::uint64_t bytes) {
  return static_cast<int>(std::bit_width(bytes));
}

/// Attribute of a communicator, which is freed with it.
class CommunicatorSchedules {
 public:
  explicit CommunicatorSchedules(MPI_Comm comm) {
    const CollectivesSite& site = collectives_site();
    const std::vector<std::int32_t> host_of_rank = hosts_of_members(site.host_of_world_rank, comm);
    hosts_ = host_of_rank;
    std::sort(hosts_.begin(), hosts_.end());
    hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
    // On one host there is nothing to plan.
    if (hosts_.size() < 2) return;
    for (const std::int32_t host : host_of_rank) {
      const auto found = std::lower_bound(hosts_.begin(), hosts_.end(), host);
      host_of_rank_.push_back(static_cast<int>(found - hosts_.begin()));
    }
    for (const CollectiveRule& rule : site.plan.rules) {
      if (rule.hosts.empty() || rule.hosts == hosts_) rules_.push_back(&rule);
    }
  }

  [[nodiscard]] int num_ranks() const {
    return rules_.empty() ? 0 : static_cast<int>(host_of_rank_.size());
  }

  Followed find(MPI_Comm comm, const CollectiveCall& call) {
    // An executor counts in int what is in one message.
    if (call.bytes > INT_MAX || call.root >= num_ranks()) return {};
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const CollectiveRule* each) {
      return each->covers(call.operation, call.bytes);
    });
    if (rule == rules_.end() || !attach(comm)) return {};
    Planned* const planned = planned_for(**rule, call);
    if (planned == nullptr || !fits(planned->schedule, *members_, call.root, call.bytes)) return {};
    return {.schedule = &planned->schedule,
            .members = members_,
            .times = planned->times.is_on() ? &planned->times : nullptr};
  }

  /// All ranks at the same call; afterwards the schedule may be gone.
  void check(const executors::Schedule& schedule, WatchedTimes& times) {
    CurrentNetwork& network = current_network();
    const double begin_s = now_s();
    const bool is_outdated = members_->rank() == kPlanner && network.version() > version_;
    const AgreedTimes agreed = agree_on_times(*members_, schedule.operation,
                                              {.call_s = times.median_s(),
                                               .agreement_s = agreement_s_,
                                               .wait_s = network.wait_s(),
                                               .is_outdated = is_outdated});
    agreement_s_ = now_s() - begin_s;
    times.begin_window(agreed.agreement_s, agreed.call_s);
    const double max_ratio = collectives_site().plan.max_drift_ratio;
    if (agreed.is_outdated) {
      forget();
    } else if (times.has_drifted(agreed.call_s, max_ratio) && agreed.may_probe) {
      look_at_network(schedule, times, agreed.call_s);
    }
  }

 private:
  using Key = std::tuple<const CollectiveRule*, int, int>;  // host of the root, size class

  /// Communicators for what is sent.
  bool attach(MPI_Comm comm) {
    if (members_ != nullptr) return true;
    const ReturnedErrors errors(comm);
    if (executors::Members::attach(comm, host_of_rank_, members_) == MPI_SUCCESS) return true;
    members_ = nullptr;
    rules_.clear();
    return false;
  }

  struct Planned {
    explicit Planned(executors::Schedule planned, WatchedTimes watched)
        : schedule(std::move(planned)), times(watched) {}
    executors::Schedule schedule;
    WatchedTimes times;
  };

  /// Probes the pairs. If the schedule takes another time on what they do now, all is planned anew;
  /// else the times have another reason, and are what to expect.
  void look_at_network(const executors::Schedule& schedule, WatchedTimes& times, double call_s) {
    CurrentNetwork& network = current_network();
    const ProbedPairs probed = probe_pairs(*members_, num_probes_++);
    network.note_probe(probed.pause_s);
    double now_s = 0.0;
    if (members_->rank() == kPlanner) {
      now_s = executors::predicted_s(network.select_with(hosts_, probed).measured(), schedule);
    }
    require_success(mpi().Bcast(&now_s, sizeof now_s, byte_type(), kPlanner, members_->comm()));
    const double most = 1 + collectives_site().plan.max_drift_ratio;
    if (now_s <= schedule.predicted_s * most && now_s * most >= schedule.predicted_s) {
      times.expect(call_s);
      return;
    }
    if (members_->rank() == kPlanner) {
      std::fprintf(
          stderr,
          "fairlead: collectives between %zu hosts are planned anew: %s of %llu bytes took "
          "%.3g s, not %.3g s, and the network has changed (measured in %.2g s)\n",
          hosts_.size(), std::string(name_of(schedule.operation)).c_str(),
          static_cast<unsigned long long>(schedule.message_bytes), call_s, schedule.predicted_s,
          probed.pause_s);
    }
    network.keep(hosts_, probed);
    forget();
  }

  void forget() {
    members_->forget();
    schedules_.clear();
    version_ = current_network().version();
  }

  Planned* planned_for(const CollectiveRule& rule, const CollectiveCall& call) {
    const int root = call.root == kNoHost ? kNoHost : members_->host_of(call.root);
    const Key key{&rule, root, size_class_of(call.bytes)};
    auto found = schedules_.find(key);
    if (found == schedules_.end()) {
      std::string text;
      if (members_->rank() == kPlanner) text = planned(rule, root, call.bytes);
      broadcast(text);
      found = schedules_.emplace(key, std::nullopt).first;
      if (!text.empty()) {
        executors::Schedule schedule = parsed(text);
        const bool is_watched = collectives_site().plan.is_watched();
        // On a network that was just measured a deviation has another reason.
        const WatchedTimes times(is_watched ? schedule.predicted_s : 0.0, num_probes_ == 0);
        found->second.emplace(std::move(schedule), times);
      }
    }
    return found->second ? &*found->second : nullptr;
  }

  /// Nothing where planning fails: all are told.
  std::string planned(const CollectiveRule& rule, int root, std::uint64_t of_rank) const noexcept
      try {
    const auto ranks_per_host =
        static_cast<double>(host_of_rank_.size()) / static_cast<double>(hosts_.size());
    auto bytes = static_cast<double>(of_rank);
    // A host's block is that of all its ranks, in an alltoall for all ranks of the other.
    if (!is_whole_vector(rule.operation)) bytes *= ranks_per_host;
    if (rule.operation == Operation::alltoall) bytes *= ranks_per_host;
    const NetworkPlan network = current_network().select(hosts_);
    std::string text =
        write_schedule(executors::plan(network.measured(),
                                       {.operation = rule.operation,
                                        .root = root,
                                        .message_bytes = static_cast<std::uint64_t>(bytes)},
                                       rule.method));
    (void)parsed(text);  // What this rank cannot read, no other can.
    return text;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead: %s by %s stays the MPI's own: %s\n",
                 std::string(name_of(rule.operation)).c_str(), rule.method.c_str(), error.what());
    return {};
  }

  static executors::Schedule parsed(const std::string& text) {
    const json::Document document("schedule", text);
    return executors::read_schedule(document.root());
  }

  void broadcast(std::string& text) const {
    auto size = static_cast<int>(text.size());
    require_success(mpi().Bcast(&size, sizeof size, byte_type(), kPlanner, members_->comm()));
    text.resize(static_cast<std::size_t>(size));
    require_success(mpi().Bcast(text.data(), size, byte_type(), kPlanner, members_->comm()));
  }

  std::vector<std::int32_t> hosts_;  ///< the plan's, ascending
  std::vector<int> host_of_rank_;    ///< index in `hosts_`
  std::vector<const CollectiveRule*> rules_;
  executors::Members* members_ = nullptr;
  // Executors know schedules by their addresses.
  std::map<Key, std::optional<Planned>> schedules_;
  int version_ = current_network().version();  ///< on which the schedules are planned
  int num_probes_ = 0;
  double agreement_s_ = 0.0;
};

/// A duplicate of a communicator has none.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

int free_schedules(MPI_Comm, int, void* value, void*) {
  delete static_cast<CommunicatorSchedules*>(value);
  return MPI_SUCCESS;
}

int key() {
  static const int created = [] {
    int value = MPI_KEYVAL_INVALID;
    mpi().Comm_create_keyval(copy_nothing, free_schedules, &value, nullptr);
    return value;
  }();
  return created;
}

CommunicatorSchedules* kept_with(MPI_Comm comm) {
  void* value = nullptr;
  int is_there = 0;
  require_success(mpi().Comm_get_attr(comm, key(), static_cast<void*>(&value), &is_there));
  return is_there != 0 ? static_cast<CommunicatorSchedules*>(value) : nullptr;
}

CommunicatorSchedules& schedules_of(MPI_Comm comm) {
  if (CommunicatorSchedules* const kept = kept_with(comm)) return *kept;
  auto made = std::make_unique<CommunicatorSchedules>(comm);
  require_success(mpi().Comm_set_attr(comm, key(), made.get()));
  return *made.release();
}

}  // namespace

CollectivesSite& collectives_site() {
  static CollectivesSite* const instance = new CollectivesSite;
  return *instance;
}

Followed find_schedule(MPI_Comm comm, const CollectiveCall& call) {
  return schedules_of(comm).find(comm, call);
}

void watch(MPI_Comm comm, const Followed& followed, double call_s) {
  followed.times->add(call_s);
  if (followed.times->is_due()) schedules_of(comm).check(*followed.schedule, *followed.times);
}

int num_ranks_with_rules(MPI_Comm comm) {
  return schedules_of(comm).num_ranks();
}

void forget_schedules(MPI_Comm comm) {
  if (kept_with(comm) == nullptr) return;
  mpi().Comm_delete_attr(comm, key());
  executors::Members::detach(comm);
}

}  // namespace fairlead::intercept
