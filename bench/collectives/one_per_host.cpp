// SPDX-License-Identifier: Apache-2.0
// In SMPI each rank has a host of its own.
#include <numeric>
#include <vector>

#include "collectives.hpp"

namespace bench {

fairlead::collectives::Members& members_of(MPI_Comm comm) {
  using fairlead::collectives::Members;
  Members* found = Members::find(comm);
  if (found == nullptr) {
    int num_ranks = 0;
    MPI_Comm_size(comm, &num_ranks);
    std::vector<int> host_of_rank(static_cast<std::size_t>(num_ranks));
    std::iota(host_of_rank.begin(), host_of_rank.end(), 0);
    if (Members::attach(comm, host_of_rank, found) != MPI_SUCCESS) MPI_Abort(comm, 1);
  }
  return *found;
}

}  // namespace bench
