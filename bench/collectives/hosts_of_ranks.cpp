// SPDX-License-Identifier: Apache-2.0
// Hosts by the names that SMPI gives them, and what executors keep with a communicator.
#include "hosts_of_ranks.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <string>

#include "collectives.hpp"

namespace bench {

std::vector<int> hosts_of_ranks(MPI_Comm comm) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name own{};
  int length = 0, num_ranks = 0;
  PMPI_Get_processor_name(own.data(), &length);
  PMPI_Comm_size(comm, &num_ranks);
  std::vector<Name> names(static_cast<std::size_t>(num_ranks));
  PMPI_Allgather(own.data(), sizeof(Name), MPI_CHAR, names.data(), sizeof(Name), MPI_CHAR, comm);
  std::map<std::string, int> number_of_name;
  std::vector<int> host_of_rank;
  for (const Name& name : names) {
    const auto next = static_cast<int>(number_of_name.size());
    host_of_rank.push_back(number_of_name.emplace(name.data(), next).first->second);
  }
  return host_of_rank;
}

fairlead::collectives::Members& members_of(MPI_Comm comm) {
  using fairlead::collectives::Members;
  Members* found = Members::find(comm);
  if (found == nullptr && Members::attach(comm, hosts_of_ranks(comm), found) != MPI_SUCCESS) {
    MPI_Abort(comm, 1);
  }
  return *found;
}

}  // namespace bench
