// SPDX-License-Identifier: Apache-2.0
// Attributes of communicators.
#include "collectives/communicator_schedules.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <map>
#include <memory>
#include <tuple>

#include "collectives/current_network.hpp"
#include "collectives/device_agreement.hpp"
#include "collectives/schedule_planner.hpp"
#include "handles/releases.hpp"
#include "operations.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/comm_attribute.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/returned_errors.hpp"

namespace fairlead::intercept {
namespace {

namespace executors = fairlead::collectives;
using executors::kNoHost;

/// Sizes from one power of two to the next share a schedule, which is planned for the first of them
/// that is called with; in a reproducible plan for the least, so that what a call combines in which
/// order does not depend on the calls before it.
int size_class_of(std::uint64_t bytes) {
  return static_cast<int>(std::bit_width(bytes));
}

std::uint64_t planned_bytes(std::uint64_t bytes) {
  return collectives_state().plan.is_reproducible ? std::bit_floor(bytes) : bytes;
}

/// Attribute of a communicator, which is freed with it.
class CommunicatorSchedules {
 public:
  explicit CommunicatorSchedules(MPI_Comm comm) {
    const CollectivesState& state = collectives_state();
    const std::vector<std::int32_t> host_of_rank = hosts_of_members(state.host_of_world_rank, comm);
    std::vector<std::int32_t> hosts = host_of_rank;
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    // On one host there is nothing to plan.
    if (hosts.size() < 2) return;
    for (const std::int32_t host : host_of_rank) {
      const auto found = std::lower_bound(hosts.begin(), hosts.end(), host);
      host_of_rank_.push_back(static_cast<int>(found - hosts.begin()));
    }
    for (const CollectiveRule& rule : state.plan.rules) {
      if (rule.is_for(hosts, host_of_rank.size())) rules_.push_back(&rule);
    }
    std::vector<std::int32_t> ranks_of_host(hosts.size());
    for (const int host : host_of_rank_) ++ranks_of_host[static_cast<std::size_t>(host)];
    planner_ = SchedulePlanner(std::move(hosts), std::move(ranks_of_host));
  }

  [[nodiscard]] int num_ranks() const {
    return rules_.empty() ? 0 : static_cast<int>(host_of_rank_.size());
  }

  Followed find(MPI_Comm comm, const CollectiveCall& call) {
    // Before all that depends on other arguments: a rank with wrong ones takes part, too.
    if (!has_rule_for(call.operation) || !attach(comm)) return {};
    if (devices_.may_occur(*members_)) return {};
    // An executor counts in int what is in one message. Without content there is nothing to plan; a
    // barrier has none.
    const bool is_empty = call.bytes == 0 && call.operation != executors::Operation::barrier;
    if (is_empty || call.bytes > INT_MAX) return {};
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const CollectiveRule* each) {
      return each->covers(call.operation, call.bytes);
    });
    if (rule == rules_.end()) return {};
    PlannedCalls& planned = planned_for(**rule, call);
    // Calls of another size in the class take other times: they do not show changes of the network.
    const bool is_watched = planned.times.is_on() && call.bytes == planned.request.bytes;
    if (planned.schedule == nullptr && !(planned.untimed && is_watched)) return {};
    if (planned.schedule != nullptr && !can_follow(*planned.schedule, call)) return {};
    const executors::Schedule* next = is_watched ? planned.next() : planned.schedule.get();
    if (next != nullptr && !can_follow(*next, call)) next = planned.schedule.get();
    return {.schedule = next, .members = members_, .watched = is_watched ? &planned : nullptr};
  }

  void check(PlannedCalls& calls) { drift_.check(calls, *members_, planner_); }

 private:
  using Key = std::tuple<const CollectiveRule*, int, int>;  // host of the root, size class

  [[nodiscard]] bool has_rule_for(executors::Operation operation) const {
    return std::any_of(rules_.begin(), rules_.end(), [operation](const CollectiveRule* each) {
      return each->operation == operation;
    });
  }

  /// Communicators for what is sent.
  bool attach(MPI_Comm comm) {
    if (members_ != nullptr) return true;
    const ReturnedErrors errors(comm);
    if (executors::Members::attach(comm, host_of_rank_, members_) == MPI_SUCCESS) return true;
    members_ = nullptr;
    rules_.clear();
    return false;
  }

  [[nodiscard]] bool can_follow(const executors::Schedule& schedule, const CollectiveCall& call) {
    return fits(schedule, *members_, call.root, call.bytes) &&
           members_->has_comms_for(schedule, call.root);
  }

  PlannedCalls& planned_for(const CollectiveRule& rule, const CollectiveCall& call) {
    const int root = call.root == kNoHost ? kNoHost : members_->host_of(call.root);
    const Key key{&rule, root, size_class_of(call.bytes)};
    const auto found = schedules_.find(key);
    if (found != schedules_.end()) return found->second;
    const PlanRequest request{.rule = &rule, .root = root, .bytes = planned_bytes(call.bytes)};
    const CurrentNetwork& network = current_network();
    const int version = network.version();
    if (rule.least_saved_ratio) return watch_untimed(key, request, version);
    auto schedule = planner_.plan(*members_, request, network);
    const double predicted_s = schedule == nullptr ? 0.0 : schedule->predicted_s;
    PlannedCalls planned{.request = request,
                         .schedule = std::move(schedule),
                         .times = {predicted_s, collectives_state().plan.drift},
                         .version = version};
    return schedules_.emplace(key, std::move(planned)).first->second;
  }

  /// The MPI's own calls: nothing is planned before some of them were timed.
  PlannedCalls& watch_untimed(const Key& key, const PlanRequest& request, int version) {
    PlannedCalls calls{.request = request,
                       .schedule = nullptr,
                       .times = {0.0, collectives_state().plan.drift},
                       .version = version,
                       .untimed = UntimedRule{}};
    calls.times.shorten_window();
    return schedules_.emplace(key, std::move(calls)).first->second;
  }

  std::vector<int> host_of_rank_;  ///< index in the hosts of the planner
  std::vector<const CollectiveRule*> rules_;
  SchedulePlanner planner_;  ///< without hosts where there is nothing to plan
  executors::Members* members_ = nullptr;
  std::map<Key, PlannedCalls> schedules_;
  DriftWatch drift_;
  DeviceAgreement devices_;
};

CommAttribute<CommunicatorSchedules>& attribute() {
  static CommAttribute<CommunicatorSchedules> made;
  return made;
}

CommunicatorSchedules& schedules_of(MPI_Comm comm) {
  int code = MPI_SUCCESS;
  if (CommunicatorSchedules* const kept = attribute().find(comm, code)) return *kept;
  require_success(code);
  auto made = std::make_unique<CommunicatorSchedules>(comm);
  CommunicatorSchedules& attached = *made;
  require_success(attribute().set(comm, std::move(made)));
  return attached;
}

}  // namespace

CollectivesState& collectives_state() {
  static CollectivesState* const instance = new CollectivesState;
  return *instance;
}

Followed find_schedule(MPI_Comm comm, const CollectiveCall& call) {
  return schedules_of(comm).find(comm, call);
}

void check_calls(MPI_Comm comm, PlannedCalls& calls) {
  schedules_of(comm).check(calls);
}

int num_ranks_with_rules(MPI_Comm comm) {
  // What was kept with it may be deleted already, here or on another rank.
  if (is_being_freed(comm)) return 0;
  return schedules_of(comm).num_ranks();
}

void forget_schedules(MPI_Comm comm) {
  if (attribute().find(comm) == nullptr) return;
  attribute().remove(comm);
  executors::Members::detach(comm);
}

}  // namespace fairlead::intercept
