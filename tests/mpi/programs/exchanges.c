/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every collective once, each with sizes that no other has. */
#include <mpi.h>

static int outgoing[4096];
static int incoming[4096];
static int counts[64], offsets[64], byte_offsets[64];
static MPI_Aint aint_offsets[64];
static MPI_Datatype types[64];

static void call_rooted(MPI_Comm comm, int size) {
  for (int peer = 0; peer < size; ++peer) {
    counts[peer] = peer + 1;
    offsets[peer] = 64 * peer;
  }
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Bcast(outgoing, 2, MPI_INT, size - 1, comm);
  MPI_Gather(outgoing, 3, MPI_INT, incoming, 3, MPI_INT, 0, comm);
  MPI_Gatherv(outgoing, rank + 1, MPI_INT, incoming, counts, offsets, MPI_INT, 0, comm);
  MPI_Scatter(outgoing, 4, MPI_INT, incoming, 4, MPI_INT, 0, comm);
  MPI_Scatterv(outgoing, counts, offsets, MPI_INT, incoming, rank + 1, MPI_INT, 0, comm);
  MPI_Reduce(outgoing, incoming, 5, MPI_INT, MPI_SUM, 0, comm);
}

static void call_rootless(MPI_Comm comm, int rank) {
  MPI_Request request;
  MPI_Barrier(comm);
  MPI_Allgather(outgoing, 6, MPI_INT, incoming, 6, MPI_INT, comm);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, incoming, counts, offsets, MPI_INT, comm);
  MPI_Allreduce(MPI_IN_PLACE, incoming, 7, MPI_INT, MPI_SUM, comm);
  MPI_Scan(outgoing, incoming, 8, MPI_INT, MPI_SUM, comm);
  MPI_Exscan(outgoing, incoming, 9, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter(outgoing, incoming, counts, MPI_INT, MPI_SUM, comm);
  MPI_Reduce_scatter_block(outgoing, incoming, 10, MPI_INT, MPI_SUM, comm);
  MPI_Iallreduce(outgoing, incoming, 11, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  (void)rank;
}

/* Rank i hands (i + 1) * (j + 1) integers to rank j in alltoallv and alltoallw. */
static void call_alltoall(MPI_Comm comm, int rank, int size) {
  for (int peer = 0; peer < size; ++peer) {
    counts[peer] = (rank + 1) * (peer + 1);
    offsets[peer] = 64 * peer;
    byte_offsets[peer] = 64 * peer * (int)sizeof(int);
    types[peer] = MPI_INT;
  }
  MPI_Alltoall(outgoing, 1, MPI_INT, incoming, 1, MPI_INT, comm);
  MPI_Alltoallv(outgoing, counts, offsets, MPI_INT, incoming, counts, offsets, MPI_INT, comm);
  MPI_Alltoallw(outgoing, counts, byte_offsets, types, incoming, counts, byte_offsets, types, comm);
}

/* A ring that is open at its ends: each rank has a place for a neighbour below and above. */
static void call_on_open_ring(int size) {
  const int is_periodic = 0;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &ring);
  MPI_Neighbor_allgather(outgoing, 12, MPI_INT, incoming, 12, MPI_INT, ring);
  MPI_Neighbor_alltoall(outgoing, 13, MPI_INT, incoming, 13, MPI_INT, ring);
  counts[0] = counts[1] = 14;
  MPI_Neighbor_alltoallv(outgoing, counts, offsets, MPI_INT, incoming, counts, offsets, MPI_INT,
                         ring);
  MPI_Comm_free(&ring);
}

/* Each rank sends to the next one only, so in- and out-neighbours differ. */
static void call_on_directed_ring(int rank, int size) {
  const int above = (rank + 1) % size;
  const int below = (rank + size - 1) % size;
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &below, MPI_UNWEIGHTED, 1, &above,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  MPI_Neighbor_allgatherv(outgoing, 15, MPI_INT, incoming, (int[]){15}, (int[]){0}, MPI_INT, ring);
  MPI_Neighbor_alltoallw(outgoing, (int[]){16}, aint_offsets, types, incoming, (int[]){16},
                         aint_offsets, types, ring);
  MPI_Comm_free(&ring);
}

static void start_persistent(MPI_Comm comm) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  MPI_Request request;
  MPI_Alltoall_init(outgoing, 17, MPI_INT, incoming, 17, MPI_INT, comm, MPI_INFO_NULL, &request);
  for (int repeat = 0; repeat < 3; ++repeat) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
#else
  (void)comm;
#endif
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  call_rooted(MPI_COMM_WORLD, size);
  call_rootless(MPI_COMM_WORLD, rank);
  call_alltoall(MPI_COMM_WORLD, rank, size);
  call_on_open_ring(size);
  call_on_directed_ring(rank, size);
  start_persistent(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
