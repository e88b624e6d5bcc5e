/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of messages with sessions only. */
#include <mpi.h>

int main(void) {
  MPI_Session session;
  MPI_Group world;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Comm_create_from_group(world, "ring", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  int rank, size, from;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size,
               0, comm, MPI_STATUS_IGNORE);
  MPI_Group_free(&world);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return from == (rank + size - 1) % size ? 0 : 1;
}
