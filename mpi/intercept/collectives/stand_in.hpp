// SPDX-License-Identifier: Apache-2.0
// A rank whose arguments the MPI refuses does its part of a call nevertheless.
#pragma once

#include "collectives/communicator_schedules.hpp"

namespace fairlead::intercept {

/// Takes part with memory of its own: sends zeros, and drops what comes. So the ranks whose
/// arguments are right get through, as by the MPI's own calls, and the next call finds no message
/// of this one. Collective over the communicator.
/// @pre the call moves blocks of equal size: no reduction
/// @return an MPI error code
int stand_in(const fairlead::collectives::Schedule& schedule,
             fairlead::collectives::Members& members, const CollectiveCall& call) noexcept;

}  // namespace fairlead::intercept
