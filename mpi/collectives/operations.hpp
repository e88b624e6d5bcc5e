// SPDX-License-Identifier: Apache-2.0
// Collective operations that follow a schedule, with the parameters of MPI's own.
//
// Each is collective over the communicator of `members`, and returns an MPI error code; it calls no
// error handler. The schedule has to fit, and where values are combined the operation has to
// commute: callers go to the MPI's own collective otherwise, on all ranks alike.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"

namespace fairlead::collectives {

/// Whether a call can follow the schedule; the same answer on all ranks.
/// @param root  a rank, or kNoHost
/// @param message_bytes  as in `Schedule`, where a block is that of one rank
[[nodiscard]] bool fits(const Schedule& schedule, const Members& members, int root,
                        std::uint64_t message_bytes);

/// Operations that do not commute keep the order of the ranks, which schedules do not.
[[nodiscard]] bool commutes(MPI_Op op);

int bcast(const Schedule& schedule, Members& members, void* buffer, int count, MPI_Datatype type,
          int root) noexcept;
int reduce(const Schedule& schedule, Members& members, const void* send, void* receive, int count,
           MPI_Datatype type, MPI_Op op, int root) noexcept;
int gather(const Schedule& schedule, Members& members, const void* send, int send_count,
           MPI_Datatype send_type, void* receive, int receive_count, MPI_Datatype receive_type,
           int root) noexcept;
int scatter(const Schedule& schedule, Members& members, const void* send, int send_count,
            MPI_Datatype send_type, void* receive, int receive_count, MPI_Datatype receive_type,
            int root) noexcept;
int allgather(const Schedule& schedule, Members& members, const void* send, int send_count,
              MPI_Datatype send_type, void* receive, int receive_count,
              MPI_Datatype receive_type) noexcept;
/// @param counts, offsets  of each rank's block in `receive`, in elements
int allgatherv(const Schedule& schedule, Members& members, const void* send, int send_count,
               MPI_Datatype send_type, void* receive, std::span<const int> counts,
               std::span<const std::ptrdiff_t> offsets, MPI_Datatype receive_type) noexcept;
int allreduce(const Schedule& schedule, Members& members, const void* send, void* receive,
              int count, MPI_Datatype type, MPI_Op op) noexcept;
int reduce_scatter(const Schedule& schedule, Members& members, const void* send, void* receive,
                   const int* counts, MPI_Datatype type, MPI_Op op) noexcept;
int alltoall(const Schedule& schedule, Members& members, const void* send, int send_count,
             MPI_Datatype send_type, void* receive, int receive_count,
             MPI_Datatype receive_type) noexcept;
int barrier(const Schedule& schedule, Members& members) noexcept;

}  // namespace fairlead::collectives
