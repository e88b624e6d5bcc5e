/* SPDX-License-Identifier: Apache-2.0 */
/* remap [wrong]: prints what each rank gets of two remappings of a ring, and that the communicator
   is as it was. With `wrong`, the last rank names a task that is not there. */
#include <fairlead.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, task;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  task = rank;
  for (int turn = 0; turn < 2; ++turn) {
    int neighbour = (task + 1) % size;
    double bytes = 1e6;
    if (argc > 1 && rank == size - 1) neighbour = size;
    const int state = fairlead_remap(MPI_COMM_WORLD, 1, &neighbour, &bytes, NULL, &task);
    int again;
    MPI_Comm_rank(MPI_COMM_WORLD, &again);
    printf("turn %d rank %d task %d state %d same %d\n", turn, rank, task, state, again == rank);
  }
  MPI_Comm none = MPI_COMM_NULL;
  if (fairlead_remap(none, 0, NULL, NULL, NULL, &task) != FAIRLEAD_WRONG_ARGUMENT) {
    printf("rank %d: took no communicator\n", rank);
  }
  MPI_Finalize();
  return 0;
}
