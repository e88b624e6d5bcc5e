// SPDX-License-Identifier: Apache-2.0
#include "pmpi/argument_check.hpp"

#include "pmpi/returned_errors.hpp"

namespace fairlead::intercept {
namespace {

constinit MPI_Comm comm{};
constinit bool is_made = false;
constinit std::mutex lock;

}  // namespace

// Not a duplicate, which would call back for attributes of the program's. Where one rank has no
// communicator left, no rank begins what needs one.
int begin_argument_check() noexcept {
  int code = MPI_SUCCESS;
  {
    const ReturnedErrors errors(comm_self());
    code = mpi().Comm_split(comm_self(), 0, 0, &comm);
  }
  is_made = code == MPI_SUCCESS;
  if (is_made) mpi().Comm_set_errhandler(comm, errors_return());
  double has_failed = is_made ? 0.0 : 1.0;
  mpi().Allreduce(MPI_IN_PLACE, &has_failed, 1, double_type(), op_max(), comm_world());
  if (has_failed == 0.0) return MPI_SUCCESS;
  end_argument_check();
  return code != MPI_SUCCESS ? code : MPI_ERR_OTHER;
}

void end_argument_check() noexcept {
  if (is_made) mpi().Comm_free(&comm);
  is_made = false;
}

MPI_Comm asking_comm() noexcept {
  return comm;
}

std::mutex& asking_lock() noexcept {
  return lock;
}

}  // namespace fairlead::intercept
