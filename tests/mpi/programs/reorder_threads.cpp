// SPDX-License-Identifier: Apache-2.0
// Four threads per rank make a topology each, on communicators of their own, at the same time.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kNumThreads = 4;
constexpr int kNumTurns = 10;

// The new rank where the first process talks to the last, the second to the last but one, and so
// on.
int rank_in_pairs(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int partner = size - 1 - rank;
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(comm, 1, &partner, MPI_UNWEIGHTED, 1, &partner, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 1, &graph);
  int new_rank = -1;
  MPI_Comm_rank(graph, &new_rank);
  MPI_Comm_free(&graph);
  return new_rank;
}

// Open MPI 4.1 loads what makes topologies with the first one, and crashes where two threads do so
// at once.
void make_first_topology() {
  const int size = 1;
  const int is_periodic = 0;
  MPI_Comm line = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_SELF, 1, &size, &is_periodic, 0, &line);
  MPI_Comm_free(&line);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  make_first_topology();
  std::array<MPI_Comm, kNumThreads> comms{};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::array<std::array<int, kNumTurns>, kNumThreads> ranks{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kNumThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int& rank : ranks[t]) rank = rank_in_pairs(comms[t]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  int differences = 0;
  for (const auto& turns : ranks) {
    for (const int rank : turns) differences += rank != ranks[0][0] ? 1 : 0;
  }
  std::array<int, 2> own = {differences, ranks[0][0] != world_rank ? 1 : 0};
  std::array<int, 2> all{};
  MPI_Reduce(own.data(), all.data(), 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) {
    std::printf("%s order in all threads, and %s one\n", all[0] == 0 ? "the same" : "not the same",
                all[1] > 0 ? "another" : "the old");
  }
  MPI_Finalize();
  return 0;
}
