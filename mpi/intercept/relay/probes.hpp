// SPDX-License-Identifier: Apache-2.0
// Messages that a probe has extracted from the MPI to read their rendezvous header. All later
// probes and receives look at these first.
#pragma once

#include <mpi.h>

#include <optional>

#include "relay/peers.hpp"
#include "relay/requests.hpp"

namespace fairlead::intercept::relay {

/// The first message that matches, removed.
/// @pre the lock of the peers is held
[[nodiscard]] std::optional<UnexpectedMessage> take_unexpected(Peers& peers, int source, int tag);

/// A receive of what a probe had found has begun: a synchronous send of it may complete.
void note_receive(const UnexpectedMessage& unexpected);

/// Sends a rendezvous header to oneself, so that the MPI has a message, or a receive a request, for
/// it.
/// @param entry  gets the send's request
[[nodiscard]] MPI_Message send_to_self(Entry& entry, const UnexpectedMessage& unexpected);

}  // namespace fairlead::intercept::relay
