// SPDX-License-Identifier: Apache-2.0
// Attributes of communicators, and the communicators stored with them.
#include "members.hpp"
#include "mpi_calls.hpp"
#include "pmpi/comm_attribute.hpp"

#include <algorithm>
#include <memory>

namespace fairlead::collectives {
namespace {

intercept::CommAttribute<Members>& attribute() {
  static intercept::CommAttribute<Members> made;
  return made;
}

/// Whether something has succeeded on every rank; collective.
bool is_common(bool is_success, MPI_Comm comm) {
  const char own = is_success ? 1 : 0;
  char of_all = 0;
  const int code = mpi().Allreduce(&own, &of_all, 1, byte_type(), op_band(), comm);
  return code == MPI_SUCCESS && of_all != 0;
}

void free_all(std::vector<MPI_Comm>& comms) {
  for (MPI_Comm& comm : comms) {
    if (comm != comm_null()) mpi().Comm_free(&comm);
  }
}

}  // namespace

int InOrder::new_rank_of(int rank) const {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

int Members::attach(MPI_Comm comm, std::span<const int> host_of_rank, Members*& members) {
  members = find(comm);
  if (members != nullptr) return MPI_SUCCESS;
  std::unique_ptr<Members> made(new Members(host_of_rank));
  const int made_code = made->make_comms(comm);
  if (!is_common(made_code == MPI_SUCCESS, comm)) {
    return made_code == MPI_SUCCESS ? MPI_ERR_OTHER : made_code;
  }
  Members* const attached = made.get();
  const int code = attribute().set(comm, std::move(made));
  if (code == MPI_SUCCESS) members = attached;
  return code;
}

Members* Members::find(MPI_Comm comm) {
  return attribute().find(comm);
}

void Members::detach(MPI_Comm comm) {
  attribute().remove(comm);
}

Members::Members(std::span<const int> host_of_rank)
    : host_of_rank_(host_of_rank.begin(), host_of_rank.end()) {
  const int num_hosts = 1 + *std::max_element(host_of_rank.begin(), host_of_rank.end());
  ranks_of_host_.resize(static_cast<std::size_t>(num_hosts));
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    ranks_of_host_[static_cast<std::size_t>(host_of_rank[rank])].push_back(static_cast<int>(rank));
  }
  for (const auto& ranks : ranks_of_host_) {
    leaders_.push_back(ranks.front());
    const auto span = static_cast<std::size_t>(ranks.back() - ranks.front());
    is_consecutive_ = is_consecutive_ && span + 1 == ranks.size();
  }
}

Members::~Members() {
  forget();
  if (host_comm_ != comm_null()) mpi().Comm_free(&host_comm_);
  if (comm_ != comm_null()) mpi().Comm_free(&comm_);
}

int Members::make_comms(MPI_Comm comm) {
  if (const int code = mpi().Comm_rank(comm, &rank_); code != MPI_SUCCESS) return code;
  // A duplicate would call back for each attribute of the program's.
  if (const int code = mpi().Comm_split(comm, 0, rank_, &comm_); code != MPI_SUCCESS) return code;
  // Errors are for the communicator that the program knows, and its error handler.
  if (const int code = mpi().Comm_set_errhandler(comm_, errors_return()); code != MPI_SUCCESS) {
    return code;
  }
  if (is_one_per_host()) return MPI_SUCCESS;
  const int code = mpi().Comm_split(comm_, host(), rank_, &host_comm_);
  return code;
}

Team Members::team(int root) {
  for (std::size_t host = 0; host < leaders_.size(); ++host) {
    leaders_[host] = ranks_of_host_[host].front();
  }
  if (root != kNoHost) leaders_[static_cast<std::size_t>(host_of(root))] = root;
  return {.comm = comm_, .rank_of_host = leaders_, .host = host()};
}

int Members::leader_of(int host, int root) const {
  return root != kNoHost && host_of(root) == host ? root : ranks_of(host).front();
}

int Members::local_leader(int root) const {
  const auto& ranks = ranks_of(host());
  const auto found = std::find(ranks.begin(), ranks.end(), leader_of(host(), root));
  return static_cast<int>(found - ranks.begin());
}

const ForestPart& Members::forest_part_of(const Schedule& schedule) {
  const auto found = forest_parts_.find(&schedule);
  if (found != forest_parts_.end()) return found->second;
  return forest_parts_.emplace(&schedule, forest_part(schedule, host())).first->second;
}

std::vector<int> Members::ranks_in_order(const Schedule& schedule) const {
  std::vector<int> result;
  for (const std::int32_t host : schedule.order) {
    const auto& ranks = ranks_of(host);
    result.insert(result.end(), ranks.begin(), ranks.end());
  }
  return result;
}

int Members::in_order(const Schedule& schedule, InOrder& order) {
  std::vector<int> ranks = ranks_in_order(schedule);
  for (const Ordered& known : ordered_) {
    order = {.comm = known.comm, .ranks = known.ranks};
    if (known.ranks == ranks) return MPI_SUCCESS;
  }
  if (!may_make(1)) return MPI_ERR_OTHER;
  const auto found = std::find(ranks.begin(), ranks.end(), rank_);
  const auto position = static_cast<int>(found - ranks.begin());
  const int code = mpi().Comm_split(comm_, 0, position, &order.comm);
  if (code != MPI_SUCCESS) return code;
  ordered_.push_back({.ranks = std::move(ranks), .comm = order.comm});
  order.ranks = ordered_.back().ranks;
  return MPI_SUCCESS;
}

int Members::comms_of_levels(const Schedule& schedule, int root, std::span<const MPI_Comm>& comms) {
  for (const Levels& known : levels_) {
    comms = known.comms;
    if (known.schedule == &schedule && known.root == root) return MPI_SUCCESS;
  }
  if (!may_make(schedule.levels.size())) return MPI_ERR_OTHER;
  Levels made{.schedule = &schedule, .root = root, .comms = {}};
  for (const auto& groups : schedule.levels) {
    int color = MPI_UNDEFINED;
    int place = 0;
    for (std::size_t group = 0; is_leader(root) && group < groups.size(); ++group) {
      const auto found = std::find(groups[group].begin(), groups[group].end(), host());
      if (found == groups[group].end()) continue;
      color = static_cast<int>(group);
      place = static_cast<int>(found - groups[group].begin());
    }
    MPI_Comm comm = comm_null();
    if (const int code = mpi().Comm_split(comm_, color, place, &comm); code != MPI_SUCCESS) {
      free_all(made.comms);
      return code;
    }
    made.comms.push_back(comm);
  }
  levels_.push_back(std::move(made));
  comms = levels_.back().comms;
  return MPI_SUCCESS;
}

bool Members::has_comms_for(const Schedule& schedule, int root) {
  if (schedule.form != Form::native && schedule.form != Form::levels) return true;
  // An order is the same from every root.
  const std::pair key{&schedule, schedule.form == Form::native ? kNoHost : root};
  if (with_comms_.contains(key)) return true;
  if (!can_make_comms_) return false;
  can_make_comms_ = is_common(make_comms_for(schedule, root) == MPI_SUCCESS, comm_);
  if (can_make_comms_) with_comms_.insert(key);
  return can_make_comms_;
}

int Members::make_comms_for(const Schedule& schedule, int root) {
  InOrder order;
  std::span<const MPI_Comm> comms;
  return schedule.form == Form::native ? in_order(schedule, order)
                                       : comms_of_levels(schedule, root, comms);
}

bool Members::may_make(std::size_t num_comms) const {
  std::size_t num_kept = ordered_.size();
  for (const Levels& known : levels_) num_kept += known.comms.size();
  return num_kept + num_comms <= kMostComms;
}

void Members::forget() {
  for (Ordered& known : ordered_) mpi().Comm_free(&known.comm);
  for (Levels& known : levels_) free_all(known.comms);
  ordered_.clear();
  levels_.clear();
  with_comms_.clear();
  can_make_comms_ = true;
  forest_parts_.clear();
}

}  // namespace fairlead::collectives
