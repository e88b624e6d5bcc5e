// SPDX-License-Identifier: Apache-2.0
// What a receive asks for, and whether it is one that the feature handles.
#pragma once

#include <mpi.h>

#include <memory>

#include "pmpi/argument_check.hpp"
#include "relay/peers.hpp"

namespace fairlead::intercept::relay {

/// What a receive asks for.
template <class Count>
struct Wanted {
  void* buffer;
  Count count;
  MPI_Datatype type;
  int source;
  int tag;
  MPI_Comm comm;
};

/// The peers of the communicator of a receive. Null where the MPI alone can do it, and where an
/// argument is wrong: the MPI then reports that. Its error handler may leave the call by a jump,
/// which would release no lock.
template <class Count>
std::shared_ptr<Peers> peers_of_receive(const Wanted<Count>& wanted) {
  const auto [buffer, count, type, source, tag, comm] = wanted;
  std::shared_ptr<Peers> peers = peers_of(comm);
  if (!peers || !peers->has_remote || !peers->may_be_source(source)) return nullptr;
  return check_received(buffer, count, type, tag) == MPI_SUCCESS ? peers : nullptr;
}

}  // namespace fairlead::intercept::relay
