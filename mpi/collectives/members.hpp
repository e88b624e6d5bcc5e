// SPDX-License-Identifier: Apache-2.0
// What is kept with a communicator whose collectives follow schedules.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "forms.hpp"
#include "mpi_calls.hpp"
#include "team.hpp"

namespace fairlead::collectives {

/// A communicator of the same processes in another order, and the old rank at each new one.
struct InOrder {
  MPI_Comm comm = comm_null();
  std::span<const int> ranks;

  [[nodiscard]] int new_rank_of(int rank) const;
};

/// The processes of a communicator by host, and communicators of its own for what they send.
///
/// One process of each host takes part in a schedule; the others give to it and get from it inside
/// the host. All of it is freed with the communicator. Not shared by threads: MPI allows one
/// collective at a time on a communicator.
class Members {
 public:
  /// Collective over `comm`, which must be an intracommunicator. A second call finds what the
  /// first one has made. Fails on all ranks alike.
  /// @param host_of_rank  of every rank of `comm`, 0 .. number of hosts - 1, all of them in use;
  /// the same on all ranks
  [[nodiscard]] static int attach(MPI_Comm comm, std::span<const int> host_of_rank,
                                  Members*& members);
  /// What was attached, or null; local.
  [[nodiscard]] static Members* find(MPI_Comm comm);

  /// Drops what was attached, if anything was; collective.
  static void detach(MPI_Comm comm);

  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int num_ranks() const { return static_cast<int>(host_of_rank_.size()); }
  [[nodiscard]] int num_hosts() const { return static_cast<int>(ranks_of_host_.size()); }
  [[nodiscard]] int host() const { return host_of(rank_); }
  [[nodiscard]] int host_of(int rank) const {
    return host_of_rank_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<int>& ranks_of(int host) const {
    return ranks_of_host_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] bool is_one_per_host() const { return num_hosts() == num_ranks(); }
  /// Whether the ranks of each host follow one another.
  [[nodiscard]] bool is_consecutive() const { return is_consecutive_; }

  /// The processes of this host, in the order of their ranks.
  [[nodiscard]] MPI_Comm host_comm() const { return host_comm_; }

  /// The first rank of each host takes part, and the root of the call on its own.
  /// @param root  kNoHost: the call has none
  [[nodiscard]] Team team(int root);
  [[nodiscard]] bool is_leader(int root) const { return leader_of(host(), root) == rank_; }
  /// Its rank in `host_comm`.
  [[nodiscard]] int local_leader(int root) const;

  /// This host's place in a forest, computed at the first use of the schedule.
  /// @pre The schedule stays where it is until `forget`.
  [[nodiscard]] const ForestPart& forest_part_of(const Schedule& schedule);

  /// Ranks in the order in which a schedule has the hosts.
  [[nodiscard]] std::vector<int> ranks_in_order(const Schedule& schedule) const;

  /// The processes in that order; made at the first use of the order, collective then.
  [[nodiscard]] int in_order(const Schedule& schedule, InOrder& order);

  /// For each level from the top the communicator of this process's group, or MPI_COMM_NULL; made
  /// at the first use of the schedule from this root, collective then.
  [[nodiscard]] int comms_of_levels(const Schedule& schedule, int root,
                                    std::span<const MPI_Comm>& comms);

  /// Whether the communicators are there that a schedule needs from this root; the same answer on
  /// all ranks, and without them the call is the MPI's own. Those that are missing are made,
  /// collectively, while they are few: an MPI may have 2048 of them for all that a process does.
  [[nodiscard]] bool has_comms_for(const Schedule& schedule, int root);

  static constexpr std::size_t kMostComms = 64;

  /// Drops what was computed for schedules; collective.
  void forget();

  Buffers buffers;

 private:
  struct Ordered {
    std::vector<int> ranks;
    MPI_Comm comm = comm_null();
  };
  struct Levels {
    const Schedule* schedule = nullptr;
    int root = kNoHost;
    std::vector<MPI_Comm> comms;
  };

  explicit Members(std::span<const int> host_of_rank);
  [[nodiscard]] int make_comms(MPI_Comm comm);
  [[nodiscard]] int make_comms_for(const Schedule& schedule, int root);
  [[nodiscard]] bool may_make(std::size_t num_comms) const;
  [[nodiscard]] int leader_of(int host, int root) const;

  MPI_Comm comm_ = comm_null();
  MPI_Comm host_comm_ = comm_null();
  int rank_ = 0;
  bool is_consecutive_ = true;
  std::vector<int> host_of_rank_;
  std::vector<std::vector<int>> ranks_of_host_;
  std::vector<int> leaders_;
  std::map<const Schedule*, ForestPart> forest_parts_;
  // In the order in which they were made, which is that in which all processes free them.
  std::vector<Ordered> ordered_;
  std::vector<Levels> levels_;
  /// Schedules, each with its root where it counts.
  std::set<std::pair<const Schedule*, int>> with_comms_;
  bool can_make_comms_ = true;
};

}  // namespace fairlead::collectives
