// SPDX-License-Identifier: Apache-2.0
// Communicators that a call is freeing. Meanwhile delete callbacks of the program's attributes may
// still use the handle, but MPI calls on attributes are not to be made: MPICH 4.0 then reads what
// it has freed.
#pragma once

#include <mpi.h>

#include <memory>

namespace fairlead::intercept {

/// What a feature knows of a communicator; null if nothing.
using FactsOfComm = std::shared_ptr<void> (*)(MPI_Comm comm);
/// Asked before a communicator is freed; kept until the call ends. Null: nothing is asked.
void ask_before_freeing(FactsOfComm facts_of) noexcept;

/// A call of this thread begins to free it, and ends.
void begin_freeing(MPI_Comm comm);
void end_freeing(MPI_Comm comm) noexcept;

/// Whether a call of this thread is freeing it, which has then called back. Another thread may have
/// got the same handle anew, before that call ends. One that its thread has left by a jump is over.
[[nodiscard]] bool is_being_freed(MPI_Comm comm);

/// These facts; others can be kept until the call ends.
/// @pre is_being_freed(comm)
void keep_while_freed(MPI_Comm comm, std::shared_ptr<void> facts);
[[nodiscard]] std::shared_ptr<void> kept_while_freed(MPI_Comm comm);

}  // namespace fairlead::intercept
