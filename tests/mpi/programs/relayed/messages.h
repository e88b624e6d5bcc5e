// SPDX-License-Identifier: Apache-2.0
// Messages whose bytes show who sent them with which tag, and room to receive them.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLarge = 1 << 20, kNumSizes = 16 };
static const int kSizes[kNumSizes] = {
    0,    1,    8,     22,    23,    24,     100,    1023,
    1024, 1025, 65535, 65536, 65537, 200000, kLarge, 3 * kLarge + 5};
static int rank, num_ranks, next, previous, failures;
static MPI_Comm comm;

#define CHECK(claim)                                                                    \
  do {                                                                                  \
    if (!(claim) && failures++ < 10)                                                    \
      printf("rank %d, line %d: not so: %s\n", rank, __LINE__, #claim), fflush(stdout); \
  } while (0)

static unsigned char byte_of(long index, int seed) {
  return (unsigned char)(index * 31 + index / 251 + seed * 17 + 3);
}
static unsigned char* filled(long size, int seed) {
  unsigned char* bytes = malloc((size_t)size + 64);
  for (long index = 0; index < size; ++index) bytes[index] = byte_of(index, seed);
  return bytes;
}
static unsigned char* room(long size) {
  unsigned char* bytes = malloc((size_t)size + 64);
  memset(bytes, 0xee, (size_t)size + 64);
  return bytes;
}
// The message, and nothing behind it.
static int is_filled(const unsigned char* bytes, long size, int seed) {
  for (long index = 0; index < size; ++index)
    if (bytes[index] != byte_of(index, seed)) return 0;
  for (long index = size; index < size + 32; ++index)
    if (bytes[index] != 0xee) return 0;
  return 1;
}
static int count_of(MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  return count;
}
static int seed_of(int src, int tag) {
  return 7 * src + tag;
}
static int is_right(unsigned char* bytes, int size, MPI_Status* status, int src, int tag) {
  return count_of(status) == size && status->MPI_SOURCE == src && status->MPI_TAG == tag &&
         is_filled(bytes, size, seed_of(src, tag));
}
static int class_of(int code) {
  int result = MPI_SUCCESS;
  MPI_Error_class(code, &result);
  return result;
}
