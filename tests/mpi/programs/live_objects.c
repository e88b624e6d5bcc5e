// SPDX-License-Identifier: Apache-2.0
// A profiling tool behind the preload library: counts the communicators and requests that it makes
// and gets rid of, and prints those that are left when rank 0 ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static long num_comms_made, num_comms_freed, num_requests_made, num_requests_ended;

#define NEXT(type, name) ((type)dlsym(RTLD_NEXT, name))

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  typedef int (*Function)(MPI_Comm, int, int, MPI_Comm*);
  static Function next;
  if (!next) next = NEXT(Function, "PMPI_Comm_split");
  const int code = next(comm, color, key, made);
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) ++num_comms_made;
  return code;
}

// The library has no wrapper of this call, but one of MPI_Comm_free: without this, the program's
// own communicators would be counted only when they are freed.
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return PMPI_Comm_split(comm, color, key, made);
}

int PMPI_Comm_free(MPI_Comm* comm) {
  typedef int (*Function)(MPI_Comm*);
  static Function next;
  if (!next) next = NEXT(Function, "PMPI_Comm_free");
  const int code = next(comm);
  if (code == MPI_SUCCESS) ++num_comms_freed;
  return code;
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int dst, int tag, MPI_Comm comm,
               MPI_Request* request) {
  typedef int (*Function)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  static Function next;
  if (!next) next = NEXT(Function, "PMPI_Isend");
  ++num_requests_made;
  return next(data, count, type, dst, tag, comm, request);
}

int PMPI_Irecv(void* data, int count, MPI_Datatype type, int src, int tag, MPI_Comm comm,
               MPI_Request* request) {
  typedef int (*Function)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  static Function next;
  if (!next) next = NEXT(Function, "PMPI_Irecv");
  ++num_requests_made;
  return next(data, count, type, src, tag, comm, request);
}

int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  typedef int (*Function)(int, MPI_Request*, int*, MPI_Status*);
  static Function next;
  if (!next) next = NEXT(Function, "PMPI_Waitany");
  const int code = next(count, requests, index, status);
  if (code == MPI_SUCCESS && *index != MPI_UNDEFINED) ++num_requests_ended;
  return code;
}

int PMPI_Request_free(MPI_Request* request) {
  typedef int (*Function)(MPI_Request*);
  static Function next;
  if (!next) next = NEXT(Function, "PMPI_Request_free");
  ++num_requests_ended;
  return next(request);
}

int PMPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("communicators: %ld made, %ld left\n", num_comms_made, num_comms_made - num_comms_freed);
    printf("requests: %ld made, %ld left\n", num_requests_made,
           num_requests_made - num_requests_ended);
  }
  return NEXT(int (*)(void), "PMPI_Finalize")();
}
