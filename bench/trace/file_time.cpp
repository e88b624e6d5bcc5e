// SPDX-License-Identifier: Apache-2.0
// Writes the trace of many ranks in one process, over an MPI of a few lines that keeps messages in
// memory: "RANKS FILE" prints seconds of one rank's part, and of rank 0's gathering and writing.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <vector>

#include "pmpi/mpi_symbols.hpp"
#include "trace/counters.hpp"
#include "trace/report.hpp"

using namespace fairlead::intercept;

namespace {

int num_ranks = 0;
int own_rank = 0;
std::vector<std::deque<std::string>> messages_of_rank;

int comm_rank(MPI_Comm, int* rank) {
  *rank = own_rank;
  return MPI_SUCCESS;
}

int comm_size(MPI_Comm, int* size) {
  *size = num_ranks;
  return MPI_SUCCESS;
}

int send(const void* buffer, int count, MPI_Datatype, int, int, MPI_Comm) {
  messages_of_rank[static_cast<std::size_t>(own_rank)].emplace_back(
      static_cast<const char*>(buffer), static_cast<std::size_t>(count));
  return MPI_SUCCESS;
}

int receive(void* buffer, int, MPI_Datatype, int src, int, MPI_Comm, MPI_Status*) {
  std::deque<std::string>& queue = messages_of_rank[static_cast<std::size_t>(src)];
  std::memcpy(buffer, queue.front().data(), queue.front().size());
  queue.pop_front();
  return MPI_SUCCESS;
}

int library_version(char* text, int* length) {
  *length = std::snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "an MPI in memory");
  return MPI_SUCCESS;
}

// Time of the processor, so that other programs do not count.
double now_s() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A Fourier transform in pencils with a stencil: exchanges along rows and columns of a square of
// ranks, messages to six neighbours, and 20 kinds of collective calls.
Counters counters_of(int rank) {
  int side = 1;
  while (side * side < num_ranks) side *= 2;
  Counters counters(static_cast<std::size_t>(num_ranks));
  const auto at = [](int other) {
    return static_cast<std::size_t>((other + num_ranks) % num_ranks);
  };
  for (int step = 1; step <= 3; ++step) {
    counters.sent[at(rank + step)].add(std::uint64_t{4096} << step);
    counters.sent[at(rank - step)].add(std::uint64_t{4096} << step);
  }
  for (int i = 0; i < side; ++i) {
    counters.exchanged[at(rank / side * side + i)].add(123456);
    counters.exchanged[at(i * side + rank % side)].add(123456);
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    counters.collectives.add({.call = Call::Allreduce,
                              .communicator_size = num_ranks,
                              .message_bytes = std::uint64_t{8} << i,
                              .calls = 1000,
                              .seconds = 0.123});
  }
  return counters;
}

}  // namespace

namespace fairlead::intercept {
Mpi detail::bound_mpi;
MPI_Datatype byte_type() noexcept {
  return {};
}
}  // namespace fairlead::intercept

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  num_ranks = std::atoi(argv[1]);
  messages_of_rank.resize(static_cast<std::size_t>(num_ranks));
  Mpi& mpi = detail::bound_mpi;
  mpi.Comm_rank = comm_rank;
  mpi.Comm_size = comm_size;
  mpi.Send = send;
  mpi.Recv = receive;
  mpi.Get_library_version = library_version;
  double part_s = 0;
  for (own_rank = num_ranks - 1; own_rank >= 0; --own_rank) {
    const Counters counters = counters_of(own_rank);
    const double begin_s = now_s();
    const auto part = record_of_rank(own_rank, 1.5, counters, 1.0, "host");
    part_s += now_s() - begin_s;
    const double write_begin_s = now_s();
    write_trace({}, argv[2], part);
    if (own_rank == 0) std::printf("%.9f %.9f\n", part_s / num_ranks, now_s() - write_begin_s);
  }
  return 0;
}
