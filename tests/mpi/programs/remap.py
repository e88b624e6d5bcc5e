# SPDX-License-Identifier: Apache-2.0
"""remap.py [wrong|coordinates]: prints what each rank gets of two remappings, as remap.c does.

With `wrong`, the last rank names a task that is not there. With `coordinates`, task t is at
(t, -t / 2).
"""

import sys

from mpi4py import MPI

import fairlead

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
remapper = fairlead.Remapper(comm)
task = rank
for turn in range(2):
    neighbour = size if "wrong" in sys.argv and rank == size - 1 else (task + 1) % size
    try:
        at = (task, -task / 2) if "coordinates" in sys.argv else ()
        task = remapper(task, {neighbour: 1e6}, move_bytes=8.0, repeats_left=5, coordinates=at)
        problem = ""
    except fairlead.InputError as error:
        problem = f" {error}"
    same = comm.Get_rank() == rank and comm.Get_size() == size
    # In one piece, or lines of ranks would be mixed.
    sys.stdout.write(f"turn {turn} rank {rank} task {task} same {same:d}{problem}\n")
    sys.stdout.flush()
