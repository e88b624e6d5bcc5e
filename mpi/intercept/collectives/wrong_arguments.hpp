// SPDX-License-Identifier: Apache-2.0
// A rank whose arguments the MPI refuses does its part of a call with a root nevertheless.
#pragma once

#include "collectives/communicator_schedules.hpp"

namespace fairlead::intercept {

/// Whether it does: where each rank only sends or only receives, those that receive, whose own
/// arguments may be wrong as well, would wait for it. In calls without a root the others would take
/// for a result what it sends; they wait for it, as in the MPI's own call.
[[nodiscard]] bool may_take_part(fairlead::collectives::Operation operation);

/// Takes part with memory of its own: sends zeros, and drops what comes. So the others get through,
/// and the next call finds no message of this one: also where the MPI's own call is compared with a
/// schedule, since the next call of the other ranks may follow it. Collective over the
/// communicator.
/// @pre may_take_part
/// @return an MPI error code
int take_part(MPI_Comm comm, const Followed& found, const CollectiveCall& call) noexcept;

}  // namespace fairlead::intercept
