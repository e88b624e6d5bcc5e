// SPDX-License-Identifier: Apache-2.0
// Calls of MPI with buffers in the memory of an invented GPU, on any of the ranks.
//
//   device_buffers RUNTIME WHEN WHAT
//
// WHEN the runtime is loaded: "first", or "late", after many calls on the communicator; "unused":
// first, but its first memory is late. WHAT: "messages" or
// "collectives".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_buffers/collectives.h"
#include "device_buffers/messages.h"

static void* runtime;

static void load_runtime(const char* path) {
  runtime = dlopen(path, RTLD_NOW);
  if (runtime == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  int (*initialise)(unsigned) = NULL;
  *(void**)&initialise = dlsym(runtime, "zeInit");
  if (initialise != NULL) initialise(0);
}

// An error of a library's question would be taken for the program's own.
static int num_left_errors(void) {
  int (*last_error)(void) = NULL;
  *(void**)&last_error = dlsym(runtime, "hipPeekAtLastError");
  return last_error != NULL && last_error() != 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int is_late = strcmp(argv[2], "late") == 0;
  const int is_used_late = is_late || strcmp(argv[2], "unused") == 0;
  if (!is_late) load_runtime(argv[1]);
  // Ranks agree at calls 512 and 1024, so all that follow are between these.
  for (int call = 0; is_used_late && call < 600; ++call) MPI_Barrier(MPI_COMM_WORLD);
  if (is_late) load_runtime(argv[1]);
  if (strcmp(argv[3], "messages") == 0) {
    exchange_messages();
  } else {
    call_collectives();
  }
  int found[] = {num_device_collectives(), num_device_messages(), num_left_errors()};
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : found, found, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("right: %d collectives, %d messages, %d errors\n", found[0], found[1], found[2]);
  MPI_Finalize();
}
