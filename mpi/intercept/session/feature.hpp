// SPDX-License-Identifier: Apache-2.0
// What a feature that handles calls has to have; its calls stand in table/handlers.def.
#pragma once

#include "session/plan.hpp"

namespace fairlead::intercept {

/// What a feature finds when it begins.
struct Session {
  int rank = 0;  // in MPI_COMM_WORLD
  int num_ranks = 0;
  const Plan& plan;
};

// `begin` says whether the feature is on, the same on all ranks; where it cannot begin although the
// plan asks for it, one rank says why in one line. Collective over MPI_COMM_WORLD, in MPI_Init,
// while the MPI still handles every call. `end` comes in MPI_Finalize, when the MPI does so again.
#define FEATURE(feature)                       \
  namespace feature {                          \
  bool begin(const Session& session) noexcept; \
  void end() noexcept;                         \
  }
#define HANDLER(feature, call)
#include "table/handlers.def"

}  // namespace fairlead::intercept
