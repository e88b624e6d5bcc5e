// SPDX-License-Identifier: Apache-2.0
// Every rank's block to every rank, as a gather to rank 0 and a bcast of what it gathered.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "program.hpp"

namespace example {

/// Puts blocks of equal length together on all ranks, and adds up the time that this takes.
///
/// Source: the applications of Gong, He, Zhong, Network performance aware MPI collective
/// communication operations in the cloud (TPDS 2015), make their allgather so.
class Allgather {
 public:
  Allgather(std::size_t block_length, MPI_Comm comm)
      : comm_(comm),
        block_length_(block_length),
        whole_(block_length * static_cast<std::size_t>(num_ranks_in(comm))) {}

  [[nodiscard]] std::size_t block_length() const { return block_length_; }

  /// The blocks of all ranks, in their order; valid until the next call. Collective.
  /// @param block Shape (block_length).
  std::span<const double> operator()(std::span<const double> block) {
    const double start_s = MPI_Wtime();
    const int length = static_cast<int>(block_length_);
    MPI_Gather(block.data(), length, MPI_DOUBLE, whole_.data(), length, MPI_DOUBLE, 0, comm_);
    MPI_Bcast(whole_.data(), static_cast<int>(whole_.size()), MPI_DOUBLE, 0, comm_);
    elapsed_s_ += MPI_Wtime() - start_s;
    return whole_;
  }

  /// Seconds of all calls together on this rank.
  [[nodiscard]] double own_s() const { return elapsed_s_; }

  /// The same of the slowest rank. Collective.
  [[nodiscard]] double elapsed_s() const {
    double longest_s = 0.0;
    MPI_Allreduce(&elapsed_s_, &longest_s, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return longest_s;
  }

 private:
  MPI_Comm comm_;
  std::size_t block_length_;
  std::vector<double> whole_;
  double elapsed_s_ = 0.0;
};

}  // namespace example
