/* SPDX-License-Identifier: Apache-2.0
 * Linked into programs of Debian's MPICH, which polls UCX without end while it waits: with more
 * ranks than cores each message then costs whole time slices. This has what Open MPI calls
 * mpi_yield_when_idle. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned progress_function(void* worker);

/* The executable's definition comes before that of libucp. */
unsigned ucp_worker_progress(void* worker) {
  static progress_function* original;
  if (original == 0) original = (progress_function*)dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned num_events = original(worker);
  if (num_events == 0) sched_yield();
  return num_events;
}
