// SPDX-License-Identifier: Apache-2.0
// Notes which communicators are being freed, for the features that keep something with them: in a
// delete callback, collectives on such a one are the MPI's own, on all ranks alike, whatever the
// order in which the MPI deletes attributes.
//
// A callback may leave the call by a jump, so nothing here has something to clean up.
#include "handles/releases.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "pmpi/nesting.hpp"
#include "session/feature.hpp"
#include "table/handlers.hpp"

namespace fairlead::intercept::freeing {
namespace {

[[gnu::noinline]] void begin_release_of(MPI_Comm comm) noexcept try {
  begin_freeing(comm);
} catch (...) {
  return;  // Without memory nothing is noted.
}

// On the stack while the MPI runs delete callbacks.
[[gnu::noinline]] FAIRLEAD_RELEASE_SECTION int release(int (*native)(MPI_Comm*), MPI_Comm* comm) {
  if (comm == nullptr || *comm == comm_null()) return native(comm);
  const MPI_Comm freed = *comm;
  begin_release_of(freed);
  const int code = native(comm);
  end_freeing(freed);
  return code;
}

}  // namespace

int Comm_free(MPI_Comm* comm) {
  return release(mpi().Comm_free, comm);
}

int Comm_disconnect(MPI_Comm* comm) {
  return release(mpi().Comm_disconnect, comm);
}

// With any plan: other features keep what they know as attributes.
bool begin(const Session&) noexcept {
  return true;
}

void end() noexcept {}

}  // namespace fairlead::intercept::freeing
