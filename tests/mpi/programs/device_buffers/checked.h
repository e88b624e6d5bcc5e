// SPDX-License-Identifier: Apache-2.0
// Buffers with known content.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "device_memory.h"

// Buffers of each kind, made once.
struct buffers {
  char* of_kind[num_memory_kinds];
};

static struct buffers make_buffers(size_t bytes) {
  struct buffers made;
  for (int kind = 0; kind < num_memory_kinds; ++kind) {
    made.of_kind[kind] = device_allocate((enum memory_kind)kind, bytes);
  }
  return made;
}

static void require(int is_right, const char* what, int place) {
  if (is_right) return;
  fprintf(stderr, "wrong: %s, at %d\n", what, place);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
