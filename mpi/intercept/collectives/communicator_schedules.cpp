// SPDX-License-Identifier: Apache-2.0
// Rank 0 plans and tells the others: computers may differ in the last digit of a prediction.
#include "collectives/communicator_schedules.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "fairlead/collectives/planning.hpp"
#include "operations.hpp"
#include "plan/world_hosts.hpp"
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

/// Sizes from one power of two to the next share a schedule, which is planned for their geometric
/// middle.
int size_class_of(std::uint64_t bytes) {
  return static_cast<int>(std::bit_width(bytes));
}

double middle_bytes(int size_class) {
  return size_class == 0 ? 0.0 : std::round(std::exp2(size_class - 0.5));
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
    const executors::Schedule* schedule = schedule_for(**rule, call);
    if (schedule == nullptr || !fits(*schedule, *members_, call.root, call.bytes)) return {};
    return {.schedule = schedule, .members = members_};
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

  const executors::Schedule* schedule_for(const CollectiveRule& rule, const CollectiveCall& call) {
    const int root = call.root == kNoHost ? kNoHost : members_->host_of(call.root);
    const Key key{&rule, root, size_class_of(call.bytes)};
    auto found = schedules_.find(key);
    if (found == schedules_.end()) {
      std::string text;
      if (members_->rank() == kPlanner) text = planned(rule, root, std::get<2>(key));
      broadcast(text);
      found = schedules_.emplace(key, std::nullopt).first;
      if (!text.empty()) found->second = parsed(text);
    }
    return found->second ? &*found->second : nullptr;
  }

  /// Nothing where planning fails: all are told.
  std::string planned(const CollectiveRule& rule, int root, int size_class) const noexcept try {
    const auto ranks_per_host =
        static_cast<double>(host_of_rank_.size()) / static_cast<double>(hosts_.size());
    double bytes = middle_bytes(size_class);
    // A host's block is that of all its ranks, in an alltoall for all ranks of the other.
    if (!is_whole_vector(rule.operation)) bytes *= ranks_per_host;
    if (rule.operation == Operation::alltoall) bytes *= ranks_per_host;
    const NetworkPlan network = collectives_site().plan.network.select(hosts_);
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
  std::map<Key, std::optional<executors::Schedule>> schedules_;
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

int num_ranks_with_rules(MPI_Comm comm) {
  return schedules_of(comm).num_ranks();
}

void forget_schedules(MPI_Comm comm) {
  if (kept_with(comm) == nullptr) return;
  mpi().Comm_delete_attr(comm, key());
  executors::Members::detach(comm);
}

}  // namespace fairlead::intercept
