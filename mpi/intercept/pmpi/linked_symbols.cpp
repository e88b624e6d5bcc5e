// SPDX-License-Identifier: Apache-2.0
// The functions of the MPI library that the program is linked with.
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace detail {
constinit Mpi bound_mpi;
}

namespace {

bool bind() noexcept {
#define FAIRLEAD_BIND(name, ...) detail::bound_mpi.name = &PMPI_##name;
#define CALL(...) FAIRLEAD_BIND(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_BIND(name)
#include "table/calls.def"
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_BIND)
#undef FAIRLEAD_BIND
  return true;
}

}  // namespace

bool bind_mpi() noexcept {
  static const bool is_own = bind();
  return is_own;
}

void require_bound(const void*, const char*) noexcept {}

MPI_Comm comm_world() noexcept {
  return MPI_COMM_WORLD;
}
MPI_Comm comm_self() noexcept {
  return MPI_COMM_SELF;
}
MPI_Comm comm_null() noexcept {
  return MPI_COMM_NULL;
}
MPI_Errhandler errors_return() noexcept {
  return MPI_ERRORS_RETURN;
}
MPI_Info info_null() noexcept {
  return MPI_INFO_NULL;
}
MPI_Datatype byte_type() noexcept {
  return MPI_BYTE;
}
int* unweighted() noexcept {
  return MPI_UNWEIGHTED;
}
int* weights_empty() noexcept {
  return MPI_WEIGHTS_EMPTY;
}

}  // namespace fairlead::intercept
