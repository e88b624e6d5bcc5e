// SPDX-License-Identifier: Apache-2.0
// Reading and sending lines; those who wait sleep, since hosts may be containers on one machine.
#include "orders.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

namespace fairlead::tune {
namespace {

constexpr int kLineTag = 1;
constexpr double kLongestPause_s = 5e-3;

/// The line, which the parent in a binomial tree sends.
std::string hear(int parent, MPI_Comm comm) {
  MPI_Status status;
  int has_arrived = 0;
  for (double pause_s = 10e-6;; pause_s = std::min(2 * pause_s, kLongestPause_s)) {
    MPI_Iprobe(parent, kLineTag, comm, &has_arrived, &status);
    if (has_arrived != 0) break;
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
  }
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string line(static_cast<std::size_t>(length), '\0');
  MPI_Recv(line.data(), length, MPI_CHAR, parent, kLineTag, comm, MPI_STATUS_IGNORE);
  return line;
}

}  // namespace

std::string next_order(MPI_Comm comm) {
  int rank = 0, num_ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  // The parent of a rank lacks its lowest bit; its children have one bit more, below that.
  const int lowest = rank & -rank;
  std::string line;
  if (rank == 0) {
    std::getline(std::cin, line);
  } else {
    line = hear(rank - lowest, comm);
  }
  int bit = 1;
  while (bit < num_ranks && (rank == 0 || bit < lowest)) bit *= 2;
  for (bit /= 2; bit > 0; bit /= 2) {
    if (rank + bit >= num_ranks) continue;
    MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, rank + bit, kLineTag, comm);
  }
  return line;
}

}  // namespace fairlead::tune
