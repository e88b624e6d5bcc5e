// SPDX-License-Identifier: Apache-2.0
// Which operations of reductions can follow a schedule.
#pragma once

#include <mpi.h>

namespace fairlead::intercept {

/// Whether the operation can combine values of the type in any order; the same on all ranks. If not
/// the MPI handles the call, and reports what is wrong on all of them: in a schedule only those
/// that combine would find it.
[[nodiscard]] bool can_combine(MPI_Op op, MPI_Datatype type);

}  // namespace fairlead::intercept
