// SPDX-License-Identifier: Apache-2.0
// On which simulated host each rank is.
#pragma once

#include <mpi.h>

#include <vector>

namespace bench {

/// The host of each rank of a communicator, numbered by their first rank. Collective.
[[nodiscard]] std::vector<int> hosts_of_ranks(MPI_Comm comm);

}  // namespace bench
