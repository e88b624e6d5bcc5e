// SPDX-License-Identifier: Apache-2.0
// One rule for all calls that a feature makes in another form: what the MPI would refuse is handed
// on to it untouched, and it reports the error itself, to the communicator of the call. Whether it
// would refuse a message is asked, not known: it checks one to nobody (MPI_PROC_NULL) as any other,
// and sends nothing.
#pragma once

#include <mpi.h>

#include <limits>
#include <mutex>
#include <type_traits>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

/// Makes the communicator on which the MPI is asked, before features begin and while the program
/// has no other threads; frees it, if it was made, after they have ended.
/// @return an MPI error code, the same on all ranks. Collective over MPI_COMM_WORLD.
[[nodiscard]] int begin_argument_check() noexcept;
void end_argument_check() noexcept;

/// That communicator: of this process alone, and its errors are codes. Questions without a
/// communicator would bring their errors to the handler of the program's MPI_COMM_WORLD.
[[nodiscard]] MPI_Comm asking_comm() noexcept;

/// Held around a collective on that communicator: threads may not make two at once.
[[nodiscard]] std::mutex& asking_lock() noexcept;

namespace detail {

/// All counts beyond an int are as right as the largest one.
template <class Count>
[[nodiscard]] int as_int(Count count) {
  constexpr Count kMax = std::numeric_limits<int>::max();
  return static_cast<int>(count < kMax ? count : kMax);
}

}  // namespace detail

/// The code with which the MPI would refuse to send this; MPI_SUCCESS where it accepts it. Buffer,
/// count, type and tag are checked; rank and communicator are not.
template <class Count>
[[nodiscard]] int check_sent(const void* buffer, Count count, MPI_Datatype type, int tag = 0) {
#if FAIRLEAD_LARGE_COUNTS
  if constexpr (std::is_same_v<Count, MPI_Count>) {
    return mpi().Send_c(buffer, count, type, MPI_PROC_NULL, tag, asking_comm());
  }
#endif
  return mpi().Send(buffer, detail::as_int(count), type, MPI_PROC_NULL, tag, asking_comm());
}

/// The same for a receive.
template <class Count>
[[nodiscard]] int check_received(void* buffer, Count count, MPI_Datatype type, int tag = 0) {
  const MPI_Comm comm = asking_comm();
#if FAIRLEAD_LARGE_COUNTS
  if constexpr (std::is_same_v<Count, MPI_Count>) {
    return mpi().Recv_c(buffer, count, type, MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE);
  }
#endif
  return mpi().Recv(buffer, detail::as_int(count), type, MPI_PROC_NULL, tag, comm,
                    MPI_STATUS_IGNORE);
}

/// The same for the tag of a probe.
[[nodiscard]] inline int check_probed(int tag) {
  int flag = 0;
  return mpi().Iprobe(MPI_PROC_NULL, tag, asking_comm(), &flag, MPI_STATUS_IGNORE);
}

/// Whether there is a place for a status, or the mark that none is wanted, which is null in Open
/// MPI alone.
[[nodiscard]] inline bool is_place(const MPI_Status* status) {
  return status != nullptr || MPI_STATUS_IGNORE == nullptr;
}

}  // namespace fairlead::intercept
