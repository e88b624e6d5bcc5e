// SPDX-License-Identifier: Apache-2.0
// The MPI's own functions, past a preloaded library that replaces both of their names.
#pragma once

#include <mpi.h>

namespace fairlead::probe {

/// The functions by which messages of a rehearsal are sent.
struct MessageCalls {
  decltype(&MPI_Isend) isend;
  decltype(&MPI_Irecv) irecv;
  decltype(&MPI_Testall) testall;
};

/// Those that the program calls by their names, so that a preloaded library sees the calls.
[[nodiscard]] MessageCalls seen_calls() noexcept;

/// Those of the MPI library itself.
[[nodiscard]] const MessageCalls& unseen_calls() noexcept;

}  // namespace fairlead::probe
