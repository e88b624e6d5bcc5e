// SPDX-License-Identifier: Apache-2.0
// Each rank says where it is: rank, host its agent was asked for, bytes of $WHERE_VALUE in hex.
// Usage: where [EXIT_CODE]; rank 0 ends with that code.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* host = getenv("FAKE_HOST");
  const char* value = getenv("WHERE_VALUE");
  char line[4096];
  int length = snprintf(line, sizeof line, "rank %d %s ", rank, host ? host : "here");
  for (; value && *value; ++value)
    length += snprintf(line + length, sizeof line - (size_t)length, "%02x", (unsigned char)*value);
  snprintf(line + length, sizeof line - (size_t)length, ".\n");
  fputs(line, stdout);
  fflush(stdout);
  MPI_Finalize();
  return argc > 1 && rank == 0 ? atoi(argv[1]) : 0;
}
