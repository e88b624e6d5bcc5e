// SPDX-License-Identifier: Apache-2.0
// What the MPI sends for a message of the program: the message, or its envelope.
#pragma once

#include <mpi.h>

namespace fairlead::intercept::relay {

struct Outgoing {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  bool is_relayed;
};

/// Gives the message to the messenger if it is to be relayed. An envelope lasts until the receiver
/// has it.
[[nodiscard]] Outgoing outgoing(const void* buffer, MPI_Count count, MPI_Datatype type, int dest,
                                MPI_Comm comm);

}  // namespace fairlead::intercept::relay
