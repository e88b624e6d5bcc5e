// SPDX-License-Identifier: Apache-2.0
// The border to callers that know error codes only.
#pragma once

#include <mpi.h>

#include <new>

namespace fairlead::collectives {

/// What `steps` returns, or the code of what it throws.
template <class Steps>
int guarded(Steps steps) noexcept {
  try {
    return steps();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (...) {
    return MPI_ERR_INTERN;
  }
}

}  // namespace fairlead::collectives
