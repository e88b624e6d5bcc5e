// SPDX-License-Identifier: Apache-2.0
// Collectives of memory that has absolute addresses, from MPI_BOTTOM on.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  int num_ranks = 0;
  int first = 0;
  double second = 0.0;
  int num_right = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);

  const int lengths[2] = {1, 1};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Aint addresses[2];
  MPI_Datatype both;
  MPI_Get_address(&first, &addresses[0]);
  MPI_Get_address(&second, &addresses[1]);
  MPI_Type_create_struct(2, lengths, addresses, types, &both);
  MPI_Type_commit(&both);

  for (int root = 0; root < num_ranks; ++root) {
    first = rank == root ? 7 + root : 0;
    second = rank == root ? 0.5 + root : 0.0;
    MPI_Bcast(MPI_BOTTOM, 1, both, root, MPI_COMM_WORLD);
    num_right += first == 7 + root && second == 0.5 + root;
  }
  // From absolute addresses into memory with gaps.
  struct {
    int first;
    double second;
  } all[16];
  const MPI_Aint offsets[2] = {0, (char*)&all[0].second - (char*)&all[0].first};
  MPI_Datatype pair;
  MPI_Datatype block;
  MPI_Type_create_struct(2, lengths, offsets, types, &pair);
  MPI_Type_create_resized(pair, 0, sizeof all[0], &block);
  MPI_Type_commit(&block);
  first = rank;
  second = -rank;
  MPI_Allgather(MPI_BOTTOM, 1, both, all, 1, block, MPI_COMM_WORLD);
  for (int each = 0; each < num_ranks; ++each) {
    num_right += all[each].first == each && all[each].second == -each;
  }

  int sum = 0;
  MPI_Reduce(&num_right, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("right %d of %d\n", sum, 2 * num_ranks * num_ranks);
  MPI_Type_free(&both);
  MPI_Type_free(&pair);
  MPI_Type_free(&block);
  MPI_Finalize();
  return 0;
}
