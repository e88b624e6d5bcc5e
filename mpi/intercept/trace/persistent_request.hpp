// SPDX-License-Identifier: Apache-2.0
// The messages of a persistent request at each start.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "handles/handle_table.hpp"
#include "trace/counters.hpp"

namespace fairlead::intercept {

/// The messages and the collective call of one start of a request.
struct PersistentRequest {
  struct Part {
    int world_rank;
    std::uint64_t bytes;
  };
  std::vector<Part> sent;
  std::vector<Part> exchanged;
  CollectiveTally collective;  // calls == 0 for point-to-point requests
};

using PersistentRequests = HandleTable<MPI_Request, PersistentRequest>;

}  // namespace fairlead::intercept
