// SPDX-License-Identifier: Apache-2.0
#include "pmpi/argument_check.hpp"

namespace fairlead::intercept {
namespace {

constinit MPI_Comm comm{};
constinit bool is_made = false;

}  // namespace

// Not a duplicate, which would call back for attributes of the program's.
void begin_argument_check() noexcept {
  mpi().Comm_split(comm_self(), 0, 0, &comm);
  mpi().Comm_set_errhandler(comm, errors_return());
  is_made = true;
}

void end_argument_check() noexcept {
  if (is_made) mpi().Comm_free(&comm);
  is_made = false;
}

MPI_Comm asking_comm() noexcept {
  return comm;
}

}  // namespace fairlead::intercept
