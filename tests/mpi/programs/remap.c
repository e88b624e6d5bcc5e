/* SPDX-License-Identifier: Apache-2.0 */
/* remap [wrong|coordinates|uneven]: prints what each rank gets of two remappings of a ring, and
   that the communicator is as it was. With `wrong`, the last rank names a task that is not there.
   With `coordinates`, task t is at (t, -t / 2); with `uneven`, the last rank leaves out the second
   one. */
#include <fairlead.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, task;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  task = rank;
  for (int turn = 0; turn < 2; ++turn) {
    int neighbour = (task + 1) % size;
    double bytes = 1e6;
    const char* variant = argc > 1 ? argv[1] : "";
    if (strcmp(variant, "wrong") == 0 && rank == size - 1) neighbour = size;
    fairlead_remap_options options = {0};
    const double at[] = {task, -task / 2.0};
    if (strcmp(variant, "coordinates") == 0 || strcmp(variant, "uneven") == 0) {
      options.num_coordinates = 2;
      options.coordinates = at;
    }
    if (strcmp(variant, "uneven") == 0 && rank == size - 1) options.num_coordinates = 1;
    const int state = fairlead_remap(MPI_COMM_WORLD, 1, &neighbour, &bytes, &options, &task);
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
