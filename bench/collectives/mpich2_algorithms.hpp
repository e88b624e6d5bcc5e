// SPDX-License-Identifier: Apache-2.0
// The algorithms that MPICH2 1.4 has for bcast and reduce on one communicator.
//
// Source: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in
// MPICH (IJHPCA 19, 2005), sections 4.3 and 4.5.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace bench::mpich2 {

inline constexpr int kTag = 14;

[[nodiscard]] int size_of(MPI_Comm comm);
[[nodiscard]] int rank_in(MPI_Comm comm);

/// This process in a communicator, ranks counted from a root.
struct Place {
  Place(MPI_Comm communicator, int root_rank);

  MPI_Comm comm;
  int root;
  int num_ranks = 1;
  int relative = 0;  ///< this rank, the root being 0

  [[nodiscard]] int rank_at(int relative_rank) const { return (relative_rank + root) % num_ranks; }
  /// The highest power of two that the relative rank is a multiple of: where its parent in a
  /// binomial tree is. For the root the first power that is not below the number of ranks.
  [[nodiscard]] int mask_to_parent() const;
};

/// A vector in the memory of this process.
struct Vector {
  void* data;
  int count;
  MPI_Datatype type;

  [[nodiscard]] std::size_t num_bytes() const;
};

[[nodiscard]] bool is_power_of_two(int value);
/// The largest power of two that is not above the value.
[[nodiscard]] int power_of_two_below(int value);

/// Down a binomial tree, the whole message on each edge.
void bcast_binomial(const Vector& vector, int root, MPI_Comm comm);
/// Parts down a binomial tree, then an allgather of them by recursive doubling.
/// @pre The number of ranks is a power of two.
void bcast_scatter_doubling(const Vector& vector, int root, MPI_Comm comm);
/// Parts down a binomial tree, then an allgather of them around a ring.
void bcast_scatter_ring(const Vector& vector, int root, MPI_Comm comm);

/// `vector` holds this process's own values, and on the root the result afterwards.
void reduce_binomial(const Vector& vector, MPI_Op op, int root, MPI_Comm comm);
/// Rabenseifner's: a reduce_scatter by recursive halving, then a gather to the root.
/// @pre `vector.count` is at least the largest power of two up to the number of ranks.
void reduce_halving_gather(const Vector& vector, MPI_Op op, int root, MPI_Comm comm);

}  // namespace bench::mpich2
