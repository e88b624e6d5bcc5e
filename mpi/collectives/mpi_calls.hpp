// SPDX-License-Identifier: Apache-2.0
// All MPI functions and handles that executors use, in one place: a preload library is linked with
// no MPI, and would have to find them by name. PMPI_ leads past wrappers of the calls.
#pragma once

#include <mpi.h>

#define FAIRLEAD_EXECUTOR_CALLS(CALL) \
  CALL(Allgather)                     \
  CALL(Allreduce)                     \
  CALL(Alltoall)                      \
  CALL(Barrier)                       \
  CALL(Bcast)                         \
  CALL(Cancel)                        \
  CALL(Comm_create_keyval)            \
  CALL(Comm_dup)                      \
  CALL(Comm_free)                     \
  CALL(Comm_get_attr)                 \
  CALL(Comm_rank)                     \
  CALL(Comm_set_attr)                 \
  CALL(Comm_set_errhandler)           \
  CALL(Comm_split)                    \
  CALL(Gather)                        \
  CALL(Irecv)                         \
  CALL(Isend)                         \
  CALL(Op_commutative)                \
  CALL(Pack)                          \
  CALL(Recv)                          \
  CALL(Reduce)                        \
  CALL(Reduce_local)                  \
  CALL(Reduce_scatter)                \
  CALL(Request_free)                  \
  CALL(Scatter)                       \
  CALL(Scatterv)                      \
  CALL(Send)                          \
  CALL(Sendrecv)                      \
  CALL(Type_free)                     \
  CALL(Type_get_contents)             \
  CALL(Type_get_envelope)             \
  CALL(Type_get_extent)               \
  CALL(Type_get_true_extent)          \
  CALL(Type_size)                     \
  CALL(Unpack)                        \
  CALL(Waitany)

namespace fairlead::collectives {

struct MpiCalls {
#define FAIRLEAD_MEMBER(name) decltype(&PMPI_##name) name = &PMPI_##name;
  FAIRLEAD_EXECUTOR_CALLS(FAIRLEAD_MEMBER)
#undef FAIRLEAD_MEMBER
};

[[nodiscard]] inline const MpiCalls& mpi() noexcept {
  static const MpiCalls calls;
  return calls;
}

[[nodiscard]] inline MPI_Comm comm_null() noexcept {
  return MPI_COMM_NULL;
}
[[nodiscard]] inline MPI_Comm comm_self() noexcept {
  return MPI_COMM_SELF;
}
[[nodiscard]] inline MPI_Datatype byte_type() noexcept {
  return MPI_BYTE;
}
[[nodiscard]] inline MPI_Errhandler errors_return() noexcept {
  return MPI_ERRORS_RETURN;
}
[[nodiscard]] inline MPI_Request request_null() noexcept {
  return MPI_REQUEST_NULL;
}

}  // namespace fairlead::collectives
