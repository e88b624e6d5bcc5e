// SPDX-License-Identifier: Apache-2.0
// Datatypes of integers with and without gaps, for programs that compare collectives byte for byte,
// and the memory that these programs use.
#pragma once

#include <malloc.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>

constexpr std::size_t kUnitBytes = 48;  // the longest unit in memory, with its gaps

/// Two integers; three with gaps between them; two in reverse order.
struct Types {
  MPI_Datatype pair = MPI_DATATYPE_NULL, strided = MPI_DATATYPE_NULL, swapped = MPI_DATATYPE_NULL;
  MPI_Op add_strided = MPI_OP_NULL;
};

/// Sum of integers with gaps between them, which stay as they are.
inline void add_strided(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int index = 0; index < *length; ++index, left += 5, right += 5) {
    for (int part = 0; part < 5; part += 2) right[part] += left[part];
  }
}

inline Types made_types() {
  Types types;
  MPI_Type_contiguous(2, MPI_INT, &types.pair);
  MPI_Type_vector(3, 1, 2, MPI_INT, &types.strided);
  const int lengths[] = {1, 1}, places[] = {1, 0};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &types.swapped);
  for (MPI_Datatype* type : {&types.pair, &types.strided, &types.swapped}) MPI_Type_commit(type);
  MPI_Op_create(add_strided, 1, &types.add_strided);
  return types;
}

inline void free_types(Types& types) {
  for (MPI_Datatype* type : {&types.pair, &types.strided, &types.swapped}) MPI_Type_free(type);
  MPI_Op_free(&types.add_strided);
}

/// In bytes, of this process.
inline long memory_in_use() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  return static_cast<long>(mallinfo2().uordblks);
#else
  return mallinfo().uordblks;
#endif
}
