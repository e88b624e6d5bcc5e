/* SPDX-License-Identifier: Apache-2.0 */
/* What a program may ask of Fairlead itself. Link with -lfairlead of the program's MPI. */
#ifndef FAIRLEAD_H
#define FAIRLEAD_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What fairlead_remap returns, the same on all ranks. */
enum {
  FAIRLEAD_KEPT = 0,      /* All tasks stay: no move pays. */
  FAIRLEAD_MOVED = 1,     /* Some tasks have another process now; move their data. */
  FAIRLEAD_NO_ORACLE = 2, /* All tasks stay: no oracle answered. One line on stderr says why. */
  FAIRLEAD_WRONG_ARGUMENT = -1, /* On some rank; nothing was changed. */
  FAIRLEAD_MPI_FAILED = -2      /* The MPI returned an error; nothing was changed. */
};

enum { FAIRLEAD_MOST_COORDINATES = 8 };

/* What decides whether a move pays. Fill it with zeros first, then set what you know. */
typedef struct fairlead_remap_options {
  /* URL?metric=stalls&method=optimize&window_s=60, read on rank 0; NULL: $FAIRLEAD_ORACLE. */
  const char* oracle;
  /* Data of this process's task that a move has to send. */
  double move_bytes;
  /* How often `bytes` will be sent from now on; 0: unknown, then a move counts as free. */
  double repeats_left;
  /* Least part of the time on the network that a move has to save; 0: a tenth. It doubles with
     each move, and goes back by half with each call that keeps all, so that two placements do not
     take turns. */
  double least_gain_ratio;
  /* Where this process's task is in the program's own space, such as the middle of its part of a
     grid: that many values, at most FAIRLEAD_MOST_COORDINATES, as many on all ranks. 0 and NULL:
     none. Only the method `geometric` uses them. */
  int num_coordinates;
  const double* coordinates;
} fairlead_remap_options;

/* Which task this process is to do from now on, by what the network does now. Collective over
   `comm`, which is not changed: only the tasks are shared out anew. Rank 0 asks the oracle
   (`fairlead oracle serve`), which finds the placement; when it does not answer, all tasks stay.

   comm        An intracommunicator of n processes that do n tasks, one each.
   num_neighbours  Tasks that this process's task sends to.
   neighbours  Their numbers, 0 to n - 1.
   bytes       Bytes sent to each, all >= 0, in one repeat.
   options     NULL: all zeros.
   task        In: the task that this process does now; at first its rank. Out: its next one.

   No two threads may be in it at a time. */
int fairlead_remap(MPI_Comm comm, int num_neighbours, const int neighbours[], const double bytes[],
                   const fairlead_remap_options* options, int* task);

#ifdef __cplusplus
}
#endif

#endif
