// SPDX-License-Identifier: Apache-2.0
// Behind the preload library: the MPI's own sums of 256 values and more begin 20 ms late, as on a
// network that is slow for its algorithm.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  typedef int (*Function)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  static Function next;
  if (!next) next = (Function)dlsym(RTLD_NEXT, "PMPI_Allreduce");
  if (count >= 256) usleep(20000);
  return next(send, receive, count, type, op, comm);
}
