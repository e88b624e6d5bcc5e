// SPDX-License-Identifier: Apache-2.0
// A library that makes an MPI GPU-aware, for the memory of an invented GPU. It is loaded between
// the program, or a library that is preloaded before it, and the MPI: each call passes on the
// address at which the bytes can be reached.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_memory.h"

struct range {
  char* address;
  char* alias;
  size_t bytes;
  enum memory_kind kind;
};

static struct range ranges[1024];
static int num_ranges;
static int num_collectives;
static int num_messages;

static const struct range* range_of(const void* address) {
  const uintptr_t place = (uintptr_t)address;
  for (int index = 0; index < num_ranges; ++index) {
    const uintptr_t begin = (uintptr_t)ranges[index].address;
    if (place >= begin && place < begin + ranges[index].bytes) return &ranges[index];
  }
  return NULL;
}

void* device_allocate(enum memory_kind kind, size_t bytes) {
  if (kind == ordinary) return calloc(1, bytes);
  if (num_ranges == (int)(sizeof ranges / sizeof *ranges)) abort();
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) abort();
  const int access = kind == device ? PROT_NONE : PROT_READ | PROT_WRITE;
  struct range* const made = &ranges[num_ranges++];
  made->address = mmap(NULL, bytes, access, MAP_SHARED, file, 0);
  made->alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (made->address == MAP_FAILED || made->alias == MAP_FAILED) abort();
  close(file);
  made->bytes = bytes;
  made->kind = kind;
  return made->address;
}

enum memory_kind device_kind(const void* address) {
  const struct range* const range = range_of(address);
  return range != NULL ? range->kind : ordinary;
}

void* device_alias(const void* address) {
  const struct range* const range = range_of(address);
  if (range == NULL) return (void*)address;
  return range->alias + ((const char*)address - range->address);
}

int num_device_allocations(void) {
  return num_ranges;
}

int num_device_collectives(void) {
  return num_collectives;
}

int num_device_messages(void) {
  return num_messages;
}

static void* reached(const void* address, int* num_calls) {
  if (device_kind(address) == device) ++*num_calls;
  return device_alias(address);
}

#define M(buffer) reached(buffer, &num_messages)
// Nothing is moved to or from no process.
#define P(buffer, peer) ((peer) == MPI_PROC_NULL ? device_alias(buffer) : M(buffer))
#define C(buffer) reached(buffer, &num_collectives)

#define CALL(name, parameters, arguments)                               \
  int PMPI_##name parameters {                                          \
    static int(*next) parameters;                                       \
    if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_" #name); \
    return next arguments;                                              \
  }                                                                     \
  int MPI_##name parameters __attribute__((alias("PMPI_" #name)));

#define SENT const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c
#define RECEIVED void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c
#define EXCHANGED                                                                           \
  const void *b, int n, MPI_Datatype t, int to, int tag, void *b2, int n2, MPI_Datatype t2, \
      int from, int tag2, MPI_Comm c
#define BLOCKS const void *b, int n, MPI_Datatype t, void *b2, int n2, MPI_Datatype t2
#define COMBINED const void *b, void *b2, int n, MPI_Datatype t, MPI_Op op

CALL(Send, (SENT), (P(b, to), n, t, to, tag, c))
CALL(Ssend, (SENT), (P(b, to), n, t, to, tag, c))
CALL(Isend, (SENT, MPI_Request* r), (P(b, to), n, t, to, tag, c, r))
CALL(Send_init, (SENT, MPI_Request* r), (P(b, to), n, t, to, tag, c, r))
CALL(Recv, (RECEIVED, MPI_Status* s), (P(b, from), n, t, from, tag, c, s))
CALL(Irecv, (RECEIVED, MPI_Request* r), (P(b, from), n, t, from, tag, c, r))
CALL(Recv_init, (RECEIVED, MPI_Request* r), (P(b, from), n, t, from, tag, c, r))
CALL(Mrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Status* s), (M(b), n, t, m, s))
CALL(Imrecv, (void* b, int n, MPI_Datatype t, MPI_Message* m, MPI_Request* r), (M(b), n, t, m, r))
#if defined(MPICH) && MPI_VERSION >= 4
CALL(Imrecv_c, (void* b, MPI_Count n, MPI_Datatype t, MPI_Message* m, MPI_Request* r),
     (M(b), n, t, m, r))
#endif
CALL(Sendrecv, (EXCHANGED, MPI_Status* s), (M(b), n, t, to, tag, M(b2), n2, t2, from, tag2, c, s))
CALL(Sendrecv_replace,
     (void* b, int n, MPI_Datatype t, int to, int tag, int from, int tag2, MPI_Comm c,
      MPI_Status* s),
     (M(b), n, t, to, tag, from, tag2, c, s))
#if MPI_VERSION >= 4
CALL(Isendrecv, (EXCHANGED, MPI_Request* r), (M(b), n, t, to, tag, M(b2), n2, t2, from, tag2, c, r))
#endif

CALL(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (C(b), n, t, root, c))
CALL(Reduce, (COMBINED, int root, MPI_Comm c), (C(b), C(b2), n, t, op, root, c))
CALL(Allreduce, (COMBINED, MPI_Comm c), (C(b), C(b2), n, t, op, c))
CALL(Reduce_scatter_block, (COMBINED, MPI_Comm c), (C(b), C(b2), n, t, op, c))
CALL(Reduce_scatter,
     (const void* b, void* b2, const int n[], MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (C(b), C(b2), n, t, op, c))
CALL(Gather, (BLOCKS, int root, MPI_Comm c), (C(b), n, t, C(b2), n2, t2, root, c))
CALL(Scatter, (BLOCKS, int root, MPI_Comm c), (C(b), n, t, C(b2), n2, t2, root, c))
CALL(Allgather, (BLOCKS, MPI_Comm c), (C(b), n, t, C(b2), n2, t2, c))
CALL(Alltoall, (BLOCKS, MPI_Comm c), (C(b), n, t, C(b2), n2, t2, c))
CALL(Allgatherv,
     (const void* b, int n, MPI_Datatype t, void* b2, const int n2[], const int at[],
      MPI_Datatype t2, MPI_Comm c),
     (C(b), n, t, C(b2), n2, at, t2, c))
