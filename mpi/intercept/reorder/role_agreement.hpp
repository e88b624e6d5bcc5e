// SPDX-License-Identifier: Apache-2.0
// How the processes of a communicator agree on the role of each.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/mapping/place_roles.hpp"
#include "plan/world_hosts.hpp"
#include "reorder/reorder_state.hpp"

namespace fairlead::intercept {

/// The contribution of one process.
struct Contribution {
  /// False when this process cannot take part: its arguments are wrong, or it has no memory.
  bool is_valid = false;
  /// Computed from the arguments that must be the same on all processes.
  std::int32_t fingerprint = 0;
  std::vector<RoleEdge> edges;
};

/// This process's rank.
/// @throws MpiFailure
[[nodiscard]] int rank_in(MPI_Comm comm);

/// The role of each process; empty when one of them cannot take part. Collective; the placement is
/// computed on rank 0 and is the same on all.
/// @throws MpiFailure
[[nodiscard]] std::vector<std::int32_t> agree_on_roles(
    const ReorderState& state, MPI_Comm comm, std::span<const std::int32_t> host_of_process,
    const Contribution& contribution);

/// Owns a communicator in which rank r is the process with role r.
class ReorderedCommunicator {
 public:
  /// Collective. @throws MpiFailure
  ReorderedCommunicator(MPI_Comm comm_old, std::span<const std::int32_t> role_of_process);
  ReorderedCommunicator(const ReorderedCommunicator&) = delete;
  ReorderedCommunicator& operator=(const ReorderedCommunicator&) = delete;
  ~ReorderedCommunicator();

  [[nodiscard]] MPI_Comm get() const { return comm_; }

  /// Gives the arguments of the old rank to the process that has taken its role.
  /// @throws MpiFailure, std::bad_alloc
  [[nodiscard]] std::vector<int> exchanged(const std::vector<int>& arguments,
                                           std::span<const std::int32_t> role_of_process) const;

 private:
  MPI_Comm comm_;
  int old_rank_ = 0;
  std::int32_t role_ = 0;
};

}  // namespace fairlead::intercept
