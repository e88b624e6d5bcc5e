// SPDX-License-Identifier: Apache-2.0
// What happens to a receive when the MPI has completed it: a rendezvous header is replaced by its
// message.
#pragma once

#include <mpi.h>

#include <optional>

#include "relay/requests.hpp"

namespace fairlead::intercept::relay {

/// Bytes of a received message.
[[nodiscard]] std::uint64_t received_bytes(const MPI_Status& status);
/// The rendezvous header that has come into a receive buffer, if one has.
[[nodiscard]] std::optional<RendezvousHeader> header_in(const ReceiveBuffer& receive_buffer,
                                                        const Peers& peers,
                                                        const MPI_Status& status);

/// Waits for the message of a rendezvous header and puts it in place; the status then describes it.
/// @return MPI_SUCCESS, or MPI_ERR_TRUNCATE if the buffer is too small
int deliver(const ReceiveBuffer& receive_buffer, const RendezvousHeader& header,
            MPI_Status& status);
/// The same for what the MPI has received, rendezvous header or not.
int finish_receive(const ReceiveBuffer& receive_buffer, const Peers& peers, MPI_Status& status);
/// The same for a request. @pre the MPI has completed it
int finish(Entry& entry, MPI_Status& status);
/// Calls the communicator's error handler with an error; returns the error if the handler returns.
int report(Peers& peers, int code);

/// Whether the request would complete at once; changes nothing.
/// @param status  the status with which it would complete
bool is_ready(Entry& entry, MPI_Request request, MPI_Status& status);

/// Keeps a request to which the program has no handle.
void complete_later(MPI_Request request, EntryPtr entry);
/// Completes those that are kept, as far as they are ready.
void complete_freed();

/// Copies a status out; in calls that complete one request, its error field is left alone.
inline void copy_status(const MPI_Status& from, MPI_Status* to) {
  if (to == MPI_STATUS_IGNORE) return;
  const int error = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = error;
}

}  // namespace fairlead::intercept::relay
