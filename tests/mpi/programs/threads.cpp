// SPDX-License-Identifier: Apache-2.0
// Two generations of three threads send to the next rank at once, each on a communicator of its
// own.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;
constexpr int kMessages = 20;

// Thread t sends messages of t + 1 bytes, the first on a duplicate that is freed again.
void exchange(int thread, MPI_Comm parent, int rank, int size) {
  std::array<char, 64> outgoing{};
  std::array<char, 64> incoming{};
  for (int message = 0; message < kMessages; ++message) {
    MPI_Comm comm = parent;
    if (message == 0) MPI_Comm_dup(parent, &comm);
    MPI_Sendrecv(outgoing.data(), thread + 1, MPI_BYTE, (rank + 1) % size, thread, incoming.data(),
                 thread + 1, MPI_BYTE, (rank + size - 1) % size, thread, comm, MPI_STATUS_IGNORE);
    if (comm != parent) MPI_Comm_free(&comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    std::puts("no MPI_THREAD_MULTIPLE");
    MPI_Abort(MPI_COMM_WORLD, 8);
  }
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::array<MPI_Comm, kThreads> parents{};
  for (MPI_Comm& parent : parents) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  for (int generation = 0; generation < 2; ++generation) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back(exchange, thread, parents[static_cast<std::size_t>(thread)], rank, size);
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (MPI_Comm& parent : parents) MPI_Comm_free(&parent);
  MPI_Finalize();
}
