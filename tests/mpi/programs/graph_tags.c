// SPDX-License-Identifier: Apache-2.0
// Distributed graphs with reorder = 1 on communicators on which some nonblocking collectives were
// made before. Open MPI sends the edges of a graph with tags to which these collectives come in
// turn, and makes the graph's communicator by them: after 23 or 24 of them a rank may receive what
// is for the other (open-mpi/ompi issue 13918), and all wait for ever.
//   graph_tags ROUNDS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int num_rounds = atoi(argv[1]);
  for (int round = 0; round < num_rounds; ++round) {
    MPI_Comm comm, graph;
    MPI_Request request;
    const int degree = 2;
    const int neighbors[2] = {(rank + 1) % size, (rank + size - 1) % size};
    const int weights[2] = {5, 1 + round};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 0; call < 23 + round % 2; ++call) {
      MPI_Ibarrier(comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Dist_graph_create(comm, 1, &rank, &degree, neighbors, weights, MPI_INFO_NULL, 1, &graph);
    MPI_Barrier(graph);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&comm);
  }
  if (rank == 0) printf("made %d graphs\n", num_rounds);
  MPI_Finalize();
  return 0;
}
