// SPDX-License-Identifier: Apache-2.0
// Keeps the program's error handler out of what Fairlead does by itself.
#pragma once

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

/// While it lives, errors on a communicator are codes. A handler may end the program, or leave by a
/// jump, an exception or the end of its thread, which must not pass frames with something to clean
/// up: it is called when they are gone.
class ReturnedErrors {
 public:
  explicit ReturnedErrors(MPI_Comm comm) : comm_(comm) {
    mpi().Comm_get_errhandler(comm_, &handler_);
    mpi().Comm_set_errhandler(comm_, errors_return());
  }
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
  ~ReturnedErrors() {
    hand_on(comm_);
    mpi().Errhandler_free(&handler_);
  }

  /// Gives the program's handler to a communicator that was made meanwhile.
  void hand_on(MPI_Comm comm) const { mpi().Comm_set_errhandler(comm, handler_); }

 private:
  MPI_Comm comm_;
  MPI_Errhandler handler_{};
};

}  // namespace fairlead::intercept
