/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers to no handle, where one is expected: prints whether each call returned an error. */
#include <mpi.h>
#include <stdio.h>

static char buffer[8];

#define TRY(call) printf("%s: %s\n", #call, (call) == MPI_SUCCESS ? "success" : "error")

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  TRY(MPI_Request_free(NULL));
#ifndef OPEN_MPI /* which crashes by itself */
  TRY(MPI_Comm_free(NULL));
  TRY(MPI_Comm_disconnect(NULL));
#endif
  TRY(MPI_Start(NULL));
  TRY(MPI_Startall(0, NULL));
  TRY(MPI_Startall(1, NULL));
  TRY(MPI_Isend(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, NULL));
  TRY(MPI_Send_init(buffer, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, NULL));
  TRY(MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, NULL, 1, NULL));
  TRY(MPI_Cart_create(MPI_COMM_NULL, 1, NULL, NULL, 1, NULL));
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  TRY(MPI_Comm_free(&comm));
  TRY(MPI_Comm_disconnect(&comm));
  TRY(MPI_Request_free(&request));
  TRY(MPI_Start(&request));
  MPI_Finalize();
  return 0;
}
