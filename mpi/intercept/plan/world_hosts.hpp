// SPDX-License-Identifier: Apache-2.0
// On which of the plan's hosts the processes of a program are.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "plan/network_plan.hpp"
#include "session/feature.hpp"

namespace fairlead::intercept {

/// A call of MPI failed with this code, which the program gets.
struct MpiFailure {
  int code;
};

/// Throws unless the call of MPI succeeded.
void require_success(int code);

/// Host of each process of MPI_COMM_WORLD, the same on all; none if one of them is on no host of
/// the plan, which the first such one reports. Collective.
/// @param complain  prints why a feature cannot begin
[[nodiscard]] std::vector<std::int32_t> find_hosts_of_world(const NetworkPlan& network,
                                                            const Session& session,
                                                            void (*complain)(const char* problem));

/// Hosts of a communicator's processes, if it is an intracommunicator inside of this
/// MPI_COMM_WORLD; else none. The same on all members.
/// @throws MpiFailure
[[nodiscard]] std::vector<std::int32_t> hosts_of_members(
    std::span<const std::int32_t> host_of_world_rank, MPI_Comm comm);

}  // namespace fairlead::intercept
