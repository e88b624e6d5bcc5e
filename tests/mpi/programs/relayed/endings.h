// SPDX-License-Identifier: Apache-2.0
// Requests that are cancelled or freed, communicators that are freed before their messages come,
// and messages that never come.
#pragma once

#include "messages.h"

static void cancelled_and_freed(void) {
  unsigned char* in = room(kLarge);
  unsigned char* out = filled(kLarge, seed_of(rank, 33));
  MPI_Request request;
  MPI_Status status;
  int flag = 0;
  MPI_Irecv(in, kLarge, MPI_BYTE, previous, 32, comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag);
  CHECK(is_filled(in, 0, 0));
  // Freed before it is complete: the message comes all the same.
  MPI_Irecv(in, kLarge, MPI_BYTE, previous, 33, comm, &request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Isend(out, kLarge, MPI_BYTE, next, 33, comm, &request);
  MPI_Request_free(&request);
  volatile unsigned char* last = in + kLarge - 1;
  int are_here = 0;
  while (!are_here) {
    // Any call on requests may bring it on.
    MPI_Sendrecv(out, 100, MPI_BYTE, next, 34, in + kLarge, 0, MPI_BYTE, MPI_PROC_NULL, 34, comm,
                 MPI_STATUS_IGNORE);
    unsigned char small[100];
    MPI_Recv(small, 100, MPI_BYTE, previous, 34, comm, MPI_STATUS_IGNORE);
    int is_here = *last == byte_of(kLarge - 1, seed_of(previous, 33));
    MPI_Allreduce(&is_here, &are_here, 1, MPI_INT, MPI_LAND, comm);
  }
  MPI_Barrier(comm);
  // Never completed, and never sent.
  static unsigned char never[kLarge];
  MPI_Irecv(never, kLarge, MPI_BYTE, previous, 35, comm, &request);
  MPI_Request_free(&request);
  free(out);
}

// A receive that has its message is not cancelled.
static void cancelled_too_late(void) {
  const int sizes[5] = {8, 100, 1024, 65536, kLarge};
  for (int index = 0; index < 5; ++index) {
    for (int how = 0; how < 3; ++how) {
      const int size = sizes[index];
      unsigned char* out = filled(size, seed_of(rank, 44));
      unsigned char* in = room(size);
      MPI_Request request, send;
      MPI_Message message;
      MPI_Status status;
      int flag = 0;
      if (how == 0) MPI_Irecv(in, size, MPI_BYTE, previous, 44, comm, &request);
      MPI_Isend(out, size, MPI_BYTE, next, 44, comm, &send);
      if (how == 1) {
        MPI_Probe(previous, 44, comm, &status);
        MPI_Irecv(in, size, MPI_BYTE, previous, 44, comm, &request);
      }
      if (how == 2) {
        MPI_Mprobe(previous, 44, comm, &message, &status);
        MPI_Imrecv(in, size, MPI_BYTE, &message, &request);
      }
      while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      CHECK(!flag);
      CHECK(is_right(in, size, &status, previous, 44));
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      free(in);
      free(out);
    }
  }
}

// A message arrives, or its send has been cancelled, and never both; the next one is not touched.
static void cancelled_sends(void) {
  const int sizes[5] = {8, 100, 1024, 65536, kLarge};
  for (int index = 0; index < 5; ++index) {
    for (int is_synchronous = 0; is_synchronous < 2; ++is_synchronous) {
      const int size = sizes[index];
      unsigned char* out = filled(kLarge, seed_of(rank, 45));
      MPI_Request sends[2];
      MPI_Status status;
      int flag = 0, has_come = 0;
      if (is_synchronous) {
        MPI_Issend(out, size, MPI_BYTE, next, 45, comm, &sends[0]);
      } else {
        MPI_Isend(out, size, MPI_BYTE, next, 45, comm, &sends[0]);
      }
      MPI_Cancel(&sends[0]);
      MPI_Isend(out, 7, MPI_BYTE, next, 45, comm, &sends[1]);
      while (1) {
        unsigned char* in = room(size);
        MPI_Recv(in, size, MPI_BYTE, previous, 45, comm, &status);
        const int is_last = count_of(&status) == 7;
        CHECK(is_right(in, is_last ? 7 : size, &status, previous, 45));
        free(in);
        if (is_last) break;
        ++has_come;
      }
      MPI_Wait(&sends[0], &status);
      MPI_Test_cancelled(&status, &flag);
      MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
      int was_cancelled = flag;
      MPI_Sendrecv_replace(&was_cancelled, 1, MPI_INT, next, 46, previous, 46, comm, &status);
      CHECK(has_come == !was_cancelled);
      free(out);
    }
  }
}

// What has begun on a communicator goes on after the program has freed it, by its error handler.
static void freed_communicators(void) {
  enum { kCount = 5000 };
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  // MPICH reports errors of requests to MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  unsigned char* out = filled(kLarge, seed_of(rank, 47));
  unsigned char* in = room(kLarge);
  // Open MPI itself writes all of a message into a buffer that is too small.
  unsigned char* small = room(kLarge);
  MPI_Datatype column;
  MPI_Type_vector(kCount, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  int* numbers = calloc(3 * kCount, sizeof(int));
  int* got = calloc(3 * kCount, sizeof(int));
  MPI_Request receives[2], sends[2], persistent[2];
  MPI_Status status;
  MPI_Irecv(in, kLarge, MPI_BYTE, previous, 47, own, &receives[0]);
  MPI_Irecv(small, 64, MPI_BYTE, previous, 48, own, &receives[1]);
  MPI_Send_init(numbers, 1, column, next, 49, own, &persistent[0]);
  MPI_Recv_init(got, 1, column, previous, 49, own, &persistent[1]);
  MPI_Type_free(&column);
  for (int tag = 47; tag < 49; ++tag)
    MPI_Isend(out, kLarge, MPI_BYTE, next, tag, own, &sends[tag - 47]);
  MPI_Comm_free(&own);
  for (int round = 0; round < 3; ++round) {
    numbers[3 * (kCount - 1)] = round + 100 * rank;
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    CHECK(got[3 * (kCount - 1)] == round + 100 * previous);
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  MPI_Wait(&receives[0], &status);
  CHECK(is_right(in, kLarge, &status, previous, 47));
  CHECK(class_of(MPI_Wait(&receives[1], &status)) == MPI_ERR_TRUNCATE);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  free(got);
  free(numbers);
  free(small);
  free(in);
  free(out);
}

// A message whose send is wrong is nowhere: neither is it received, nor does its sender wait.
static void wrong_sends(void) {
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  unsigned char* out = filled(kLarge, seed_of(rank, 57));
  unsigned char* in = room(kLarge);
  MPI_Request request;
  MPI_Status status;
  for (int round = 0; round < 20; ++round) {
    CHECK(class_of(MPI_Send(out, kLarge, MPI_BYTE, next, -7, own)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Isend(out, kLarge, MPI_BYTE, next, -7, own, &request)) == MPI_ERR_TAG);
  }
  MPI_Sendrecv(out, kLarge, MPI_BYTE, next, 57, in, kLarge, MPI_BYTE, previous, MPI_ANY_TAG, own,
               &status);
  CHECK(is_right(in, kLarge, &status, previous, 57));
  MPI_Comm_free(&own);
  free(in);
  free(out);
}

// The program's last receives are freed, so that nothing but its end brings them on.
static void freed_at_the_end(void) {
  enum { kMuch = 10 << 20 };
  static unsigned char out[kMuch], in[2][kMuch];
  for (int index = 0; index < 2; ++index) {
    MPI_Request request;
    MPI_Irecv(in[index], kMuch, MPI_BYTE, previous, 58, comm, &request);
    MPI_Request_free(&request);
  }
  for (int index = 0; index < 2; ++index) MPI_Send(out, kMuch, MPI_BYTE, next, 58, comm);
}

// The last messages of the program, for which there is no receive. Without relays a large one
// would not end.
static void never_received(void) {
  static unsigned char out[kLarge];
  MPI_Request request;
  MPI_Send(out, 8, MPI_BYTE, next, 50, comm);
  MPI_Send(out, kLarge, MPI_BYTE, next, 50, comm);
  MPI_Isend(out, kLarge, MPI_BYTE, next, 50, comm, &request);
  MPI_Request_free(&request);
}
