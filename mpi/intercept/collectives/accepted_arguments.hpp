// SPDX-License-Identifier: Apache-2.0
// Whether the MPI would make a collective with the arguments of this rank.
#pragma once

#include <mpi.h>

#include <mutex>

#include "pmpi/addressed_memory.hpp"
#include "pmpi/argument_check.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

[[nodiscard]] inline int rank_of_this(MPI_Comm comm) {
  int own = MPI_PROC_NULL;
  mpi().Comm_rank(comm, &own);
  return own;
}

[[nodiscard]] inline bool is_rank(MPI_Comm comm, int rank) {
  return rank_of_this(comm) == rank;
}

enum class InPlace : bool { no, yes };

/// Whether the MPI accepts what this rank sends or receives. It asks by point-to-point calls, which
/// know no MPI_IN_PLACE.
template <class Count>
[[nodiscard]] bool may_send(const void* buffer, Count count, MPI_Datatype type,
                            InPlace in_place = InPlace::no) {
  if (buffer == MPI_IN_PLACE) return in_place == InPlace::yes;
  return check_sent(buffer, count, type) == MPI_SUCCESS;
}

template <class Count>
[[nodiscard]] bool may_receive(void* buffer, Count count, MPI_Datatype type,
                               InPlace in_place = InPlace::no) {
  if (buffer == MPI_IN_PLACE) return in_place == InPlace::yes;
  return check_received(buffer, count, type) == MPI_SUCCESS;
}

[[nodiscard]] constexpr InPlace at_root(bool is_root) {
  return is_root ? InPlace::yes : InPlace::no;
}

/// Whether the MPI accepts that a reduction has its result where its values are, without
/// MPI_IN_PLACE: of this process alone it is asked what changes nothing.
template <class Count>
[[nodiscard]] bool may_reduce(const void* send, void* receive, Count count, MPI_Datatype type,
                              MPI_Op op) {
  if (send != receive || count == 0) return true;
  const std::scoped_lock lock(asking_lock());
  return mpi().Allreduce(send, receive, 1, type, op, asking_comm()) == MPI_SUCCESS;
}

/// The same for blocks that are moved.
template <class Count>
[[nodiscard]] bool may_move(const void* send, Count send_count, MPI_Datatype send_type,
                            void* receive, Count receive_count, MPI_Datatype receive_type) {
  if (send != receive || send_count != receive_count || send_type != receive_type) return true;
  if (send_count == 0) return true;
  const std::scoped_lock lock(asking_lock());
  return mpi().Alltoall(send, 1, send_type, receive, 1, receive_type, asking_comm()) == MPI_SUCCESS;
}

/// The block of this rank among those of all.
template <class Count>
[[nodiscard]] void* own_block(const void* blocks, Count count, MPI_Datatype type, MPI_Comm comm) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  mpi().Type_get_extent(type, &lower, &extent);
  return at_distance(blocks, extent * static_cast<MPI_Aint>(count) * rank_of_this(comm));
}

}  // namespace fairlead::intercept
