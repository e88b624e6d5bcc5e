/* SPDX-License-Identifier: Apache-2.0 */
/* One corner of MPI per name given as argument; test_trace_corners.py lists what each sends. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 16];
static int rank, size;

/* A vector of 3 blocks of 2 ints, 10 ints apart: 24 bytes of payload, four of them. */
static void derived_type(void) {
  MPI_Datatype blocks;
  MPI_Type_vector(3, 2, 10, MPI_INT, &blocks);
  MPI_Type_commit(&blocks);
  MPI_Sendrecv(buffer, 4, blocks, 0, 0, buffer + 4096, 4, blocks, 0, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  MPI_Type_free(&blocks);
}

static void proc_null_and_empty(void) {
  MPI_Send(buffer, 100, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + 1) % size, 0, NULL, 0, MPI_BYTE, (rank + size - 1) % size,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The even ranks send to the odd ones, whose ranks in the remote group are not world ranks. */
static void intercommunicator(void) {
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
  int remote_size, half_rank;
  MPI_Comm_remote_size(inter, &remote_size);
  MPI_Comm_rank(half, &half_rank);
  if (rank % 2 == 0 && half_rank < remote_size) {
    MPI_Send(buffer, 10, MPI_BYTE, half_rank, 0, inter);
  } else if (rank % 2 == 1) {
    MPI_Recv(buffer, 10, MPI_BYTE, half_rank, 0, inter, MPI_STATUS_IGNORE);
  }
  MPI_Comm_disconnect(&inter);
  MPI_Comm_free(&half);
}

/* New communicators get the handles of freed ones; each time rank 0 of the pair sends. */
static void reused_handles(void) {
  for (int turn = 0; turn < 2 * size; ++turn) {
    const int is_member = rank == turn % size || rank == (turn + 1) % size;
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, rank == turn % size ? 0 : 1,
                   &pair);
    if (!is_member) continue;
    if (rank == turn % size) {
      MPI_Send(buffer, turn + 1, MPI_BYTE, 1, 0, pair);
    } else {
      MPI_Recv(buffer, turn + 1, MPI_BYTE, 0, 0, pair, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&pair);
  }
}

/* The delete callback of an attribute sends 100 bytes to the next rank. */
static int send_at_deletion(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)value, (void)extra;
  int is_inter, me, count;
  MPI_Comm_test_inter(comm, &is_inter);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &count);
  const int dest = is_inter ? me : (me + 1) % count;
  const int source = is_inter ? me : (me + count - 1) % count;
  return MPI_Sendrecv(buffer, 100, MPI_BYTE, dest, 0, buffer + 4096, 100, MPI_BYTE, source, 0, comm,
                      MPI_STATUS_IGNORE);
}

/* Communicators whose last message is sent while they are freed; new ones with other ranks get
   their handles. Each time rank 0 of the new one sends to its rank 1. */
static void last_messages(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_at_deletion, &keyval, NULL);
  for (int turn = 0; turn < 2 * size; ++turn) {
    MPI_Comm rotated;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank + turn) % size, &rotated);
    int me;
    MPI_Comm_rank(rotated, &me);
    if (me == 0) MPI_Send(buffer, 1, MPI_BYTE, 1, 0, rotated);
    if (me == 1) MPI_Recv(buffer, 1, MPI_BYTE, 0, 0, rotated, MPI_STATUS_IGNORE);
    MPI_Comm_set_attr(rotated, keyval, NULL);
    if (turn % 2 == 0) MPI_Comm_free(&rotated);
    if (turn % 2 == 1) MPI_Comm_disconnect(&rotated);
  }
  MPI_Comm_free_keyval(&keyval);
}

/* The same between two halves of four ranks: even and odd ones, then the lower and the upper. */
static void last_messages_between_groups(void) {
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_at_deletion, &keyval, NULL);
  for (int turn = 0; turn < 4; ++turn) {
    MPI_Comm half, inter;
    const int side = turn % 2 == 0 ? rank % 2 : rank / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 1 ? 0 : (turn % 2 == 0 ? 1 : 2), 7,
                         &inter);
    MPI_Comm_set_attr(inter, keyval, NULL);
    MPI_Comm_disconnect(&inter);
    MPI_Comm_free(&half);
  }
  MPI_Comm_free_keyval(&keyval);
}

/* Nonblocking collectives; the first would be matched with one that an earlier call left behind. */
static void nonblocking_collectives(void) {
  MPI_Request requests[2];
  int value = rank == 0 ? 42 : 0, sum = 0;
  MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (sum != 42 * size) exit(9);
}

/* A child process that is no MPI program inherits the library. */
static void other_programs(void) {
  if (system("true") != 0) exit(9);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* More message sizes than the table of collectives has places. */
static void many_sizes(void) {
  for (int count = 1; count <= 3000; ++count) {
    MPI_Bcast(buffer, count, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
}

/* An invalid destination: the error code of MPI comes back, and nothing is counted. */
static void returned_errors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Send(buffer, 1, MPI_BYTE, size, 0, MPI_COMM_WORLD) == MPI_SUCCESS) exit(9);
  if (MPI_Bcast(buffer, -1, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS) exit(9);
}

/* Two processes of another MPI_COMM_WORLD, each of which gets one message of 5 bytes. */
static void spawned_processes(const char* program) {
  MPI_Comm children;
  char* arguments[] = {(char*)"child", NULL};
  MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  if (rank == 0) {
    MPI_Send(buffer, 5, MPI_BYTE, 0, 0, children);
    MPI_Send(buffer, 5, MPI_BYTE, 1, 0, children);
  }
  MPI_Comm_disconnect(&children);
}

static void be_a_child(void) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  MPI_Recv(buffer, 5, MPI_BYTE, 0, 0, parent, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&parent);
}

#if MPI_VERSION >= 4
/* The calls with counts of type MPI_Count. */
static void large_counts(void) {
  MPI_Sendrecv_c(buffer, 3000, MPI_BYTE, 0, 0, buffer + 8192, 3000, MPI_BYTE, 0, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
  MPI_Allreduce_c(MPI_IN_PLACE, buffer, 6, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
#else
static void large_counts(void) {}
#endif

int main(int argc, char** argv) {
  const char* corner = argv[1];
  if (strcmp(corner, "no_mpi") == 0) {
    sleep(1); /* Open MPI 5 may wait for ever for ranks that end within milliseconds. */
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(corner, "no_finalize") == 0) _exit(0);
  if (strcmp(corner, "exit_code") == 0) exit(7);
  if (strcmp(corner, "derived_type") == 0) derived_type();
  if (strcmp(corner, "proc_null_and_empty") == 0) proc_null_and_empty();
  if (strcmp(corner, "intercommunicator") == 0) intercommunicator();
  if (strcmp(corner, "reused_handles") == 0) reused_handles();
  if (strcmp(corner, "last_messages") == 0) last_messages();
  if (strcmp(corner, "last_messages_between_groups") == 0) last_messages_between_groups();
  if (strcmp(corner, "nonblocking_collectives") == 0) nonblocking_collectives();
  if (strcmp(corner, "other_programs") == 0) other_programs();
  if (strcmp(corner, "many_sizes") == 0) many_sizes();
  if (strcmp(corner, "returned_errors") == 0) returned_errors();
  if (strcmp(corner, "spawned_processes") == 0) spawned_processes(argv[0]);
  if (strcmp(corner, "child") == 0) be_a_child();
  if (strcmp(corner, "large_counts") == 0) large_counts();
  MPI_Finalize();
  return 0;
}
