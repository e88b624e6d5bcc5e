// SPDX-License-Identifier: Apache-2.0
// The functions of a feature that handles calls; table/handlers.def lists its calls.
#pragma once

#include "session/plan.hpp"

namespace fairlead::intercept {

/// Input of a feature's `begin`.
struct Session {
  int rank = 0;  // in MPI_COMM_WORLD
  int num_ranks = 0;
  const Plan& plan;
};

// `begin` returns whether the feature is on, the same on all ranks; if it cannot begin although the
// plan has its file, one rank prints the reason in one line. Collective over MPI_COMM_WORLD, in
// MPI_Init, while the MPI still handles every call. `end` comes in MPI_Finalize, when the MPI does
// so again.
#define FEATURE(feature)                       \
  namespace feature {                          \
  bool begin(const Session& session) noexcept; \
  void end() noexcept;                         \
  }
#define HANDLER(feature, call)
#include "table/handlers.def"

}  // namespace fairlead::intercept
