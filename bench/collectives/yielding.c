// SPDX-License-Identifier: Apache-2.0
// Preloaded, it lets the ranks of an MPICH over UCX give their processor away while they wait, as
// Open MPI's do with mpi_yield_when_idle: MPICH has no such option, and where there are more ranks
// than cores each message would take some slices of the scheduler's time.
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void* worker) {
  typedef unsigned (*Function)(void*);
  static Function next;
  // RTLD_NEXT would find it only in a program that is linked with MPI: Python loads it for a
  // module.
  if (!next) next = (Function)dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress");
  const unsigned num_done = next(worker);
  if (num_done == 0) sched_yield();
  return num_done;
}
