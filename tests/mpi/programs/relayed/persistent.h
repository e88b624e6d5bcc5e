// SPDX-License-Identifier: Apache-2.0
// Persistent requests. A probe may find the message of a receive before it is started.
#pragma once

#include "messages.h"

static void persistent(void) {
  for (int index = 0; index < kNumSizes; ++index) {
    const int size = kSizes[index];
    unsigned char* out = filled(size, 0);
    unsigned char* in = room(size);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (index % 2 == 0) {
      MPI_Send_init(out, size, MPI_BYTE, next, 7, comm, &requests[0]);
    } else {
      MPI_Ssend_init(out, size, MPI_BYTE, next, 7, comm, &requests[0]);
    }
    MPI_Recv_init(in, size, MPI_BYTE, index % 3 ? previous : MPI_ANY_SOURCE, 7, comm, &requests[1]);
    for (int round = 0; round < 4; ++round) {
      for (long each = 0; each < size; ++each) out[each] = byte_of(each, seed_of(rank, round));
      memset(in, 0xee, (size_t)size + 64);
      if (round == 2) {
        // A probe may find the message before the receive is started.
        MPI_Start(&requests[0]);
        MPI_Probe(previous, 7, comm, &statuses[0]);
        CHECK(count_of(&statuses[0]) == size);
        MPI_Start(&requests[1]);
      } else {
        MPI_Startall(2, requests);
      }
      if (round == 3) {
        int flag = 0;
        while (!flag) MPI_Test(&requests[1], &flag, &statuses[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      } else {
        MPI_Waitall(2, requests, statuses);
      }
      CHECK(count_of(&statuses[1]) == size && is_filled(in, size, seed_of(previous, round)));
      CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(in);
    free(out);
  }
}

enum Call {
  kWait,
  kWaitall,
  kWaitany,
  kWaitsome,
  kTest,
  kTestall,
  kTestany,
  kTestsome,
  kGetStatus,
  kNumCalls
};

// Completes the first request, while others are pending where the call completes one or some
// of several. False if the call does not return it.
static int completes_first(enum Call call, int count, MPI_Request* requests, MPI_Status* status) {
  int index = 0, num_done = 1, flag = 0;
  if (call == kWait) MPI_Wait(requests, status);
  if (call == kWaitall) MPI_Waitall(1, requests, status);
  if (call == kWaitany) MPI_Waitany(count, requests, &index, status);
  if (call == kWaitsome) MPI_Waitsome(count, requests, &num_done, &index, status);
  while (call == kTest && !flag) MPI_Test(requests, &flag, status);
  while (call == kTestall && !flag) MPI_Testall(1, requests, &flag, status);
  while (call == kTestany && !flag) MPI_Testany(count, requests, &index, &flag, status);
  if (call == kTestsome) num_done = 0;
  while (call == kTestsome && num_done == 0)
    MPI_Testsome(count, requests, &num_done, &index, status);
  while (call == kGetStatus && !flag) MPI_Request_get_status(requests[0], &flag, status);
  if (call == kGetStatus) MPI_Wait(requests, MPI_STATUS_IGNORE);
  return index == 0 && num_done == 1;
}

// Each call completes a receive whose message a probe has found: alone, and with a receive pending
// whose message this rank sends only after.
static void started_after_probe(void) {
  const int sizes[6] = {0, 23, 100, 1024, 65536, kLarge};
  for (enum Call call = 0; call < kNumCalls; ++call) {
    for (int index = 0; index < 6; ++index) {
      const int size = sizes[index];
      unsigned char* out = filled(size, seed_of(rank, 7));
      unsigned char* in = room(size);
      MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      const int source = index % 2 ? MPI_ANY_SOURCE : previous;
      MPI_Recv_init(in, size, MPI_BYTE, source, 7, comm, &requests[0]);
      for (int has_another = 0; has_another < 2; ++has_another) {
        MPI_Request send;
        MPI_Status statuses[3], last;
        char token = 'a', later = 0;
        memset(in, 0xee, (size_t)size + 64);
        MPI_Isend(out, size, MPI_BYTE, next, 7, comm, &send);
        MPI_Probe(previous, 7, comm, &statuses[0]);
        CHECK(count_of(&statuses[0]) == size);
        if (has_another) MPI_Irecv(&later, 1, MPI_CHAR, rank, 8, comm, &requests[1]);
        MPI_Start(&requests[0]);
        const int is_returned = completes_first(call, 3, requests, statuses);
        CHECK(is_returned);
        CHECK(is_right(in, size, statuses, previous, 7));
        CHECK(requests[0] != MPI_REQUEST_NULL);
        if (!is_returned) return;
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        if (has_another) MPI_Send(&token, 1, MPI_CHAR, rank, 8, comm);
        MPI_Wait(&requests[1], &last);
        // Now it is inactive.
        CHECK(MPI_Wait(&requests[0], &last) == MPI_SUCCESS && count_of(&last) == 0);
      }
      MPI_Request_free(&requests[0]);
      free(in);
      free(out);
    }
  }
}

// A probe extracts what came before the message that it finds, also what is smaller than a
// rendezvous header: receives of all are started, and their messages come to them, in order.
static void started_in_order(void) {
  enum { kNum = 4 };
  const int sizes[kNum] = {8, 60, 60000, kLarge};
  for (int is_testing = 0; is_testing < 2; ++is_testing) {
    unsigned char *out[kNum], *in[kNum];
    MPI_Request sends[kNum], requests[kNum];
    MPI_Status statuses[kNum];
    for (int index = 0; index < kNum; ++index) {
      out[index] = filled(sizes[index], seed_of(rank, index));
      in[index] = room(sizes[index]);
      MPI_Isend(out[index], sizes[index], MPI_BYTE, next, index, comm, &sends[index]);
      MPI_Recv_init(in[index], sizes[index], MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                    &requests[index]);
    }
    MPI_Probe(previous, kNum - 1, comm, statuses);
    CHECK(count_of(statuses) == kLarge);
    MPI_Startall(kNum, requests);
    for (int num_left = kNum; num_left > 0;) {
      int indices[kNum], num_done = 0;
      if (is_testing) {
        MPI_Testsome(kNum, requests, &num_done, indices, statuses);
      } else {
        MPI_Waitsome(kNum, requests, &num_done, indices, statuses);
      }
      CHECK(num_done != MPI_UNDEFINED);
      if (num_done == MPI_UNDEFINED) return;
      for (int done = 0; done < num_done; ++done) {
        const int index = indices[done];
        CHECK(is_right(in[index], sizes[index], &statuses[done], previous, index));
      }
      num_left -= num_done;
    }
    MPI_Waitall(kNum, sends, MPI_STATUSES_IGNORE);
    for (int index = 0; index < kNum; ++index) {
      MPI_Request_free(&requests[index]);
      free(in[index]);
      free(out[index]);
    }
  }
}

// Every third number came from the rank before this one; the others are as they were.
static int is_column(const double* in, int count) {
  for (int each = 0; each < 3 * count; ++each)
    if (in[each] != (each % 3 ? -1.0 : previous + 0.5 * (each / 3))) return 0;
  return 1;
}

// The same for memory with gaps, buffers that are too small, and receives that are cancelled or
// freed at once.
static void started_after_probe_otherwise(void) {
  enum { kCount = 1000, kNumWays = 4 };
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  // MPICH reports errors of requests to MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Datatype column;
  MPI_Type_vector(kCount, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  double line[kCount], in[3 * kCount];
  for (int each = 0; each < kCount; ++each) line[each] = rank + 0.5 * each;
  for (int way = 0; way < kNumWays; ++way) {
    MPI_Request request, send;
    MPI_Status status;
    int index = -1, flag = 0, elements = 0, code;
    for (int each = 0; each < 3 * kCount; ++each) in[each] = -1.0;
    if (way == 1) {
      MPI_Recv_init(in, 8, MPI_DOUBLE, previous, 9, own, &request);
    } else {
      MPI_Recv_init(in, 1, column, previous, 9, own, &request);
    }
    MPI_Isend(line, kCount, MPI_DOUBLE, next, 9, own, &send);
    MPI_Probe(previous, 9, own, &status);
    MPI_Start(&request);
    if (way == 2) MPI_Cancel(&request);
    if (way == 3) {
      MPI_Request_free(&request);
      CHECK(request == MPI_REQUEST_NULL);
      // Any call on requests brings it on.
      volatile double* last = &in[3 * (kCount - 1)];
      char token = 'a', later;
      MPI_Request pending;
      MPI_Irecv(&later, 1, MPI_CHAR, rank, 10, comm, &pending);
      while (*last == -1.0) MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
      MPI_Send(&token, 1, MPI_CHAR, rank, 10, comm);
      MPI_Wait(&pending, MPI_STATUS_IGNORE);
    } else {
      code = MPI_Waitany(1, &request, &index, &status);
      CHECK(index == 0);
      if (way == 1) {
        CHECK(class_of(code) == MPI_ERR_TRUNCATE);
      } else {
        MPI_Get_elements(&status, MPI_DOUBLE, &elements);
        MPI_Test_cancelled(&status, &flag);
        CHECK(code == MPI_SUCCESS && elements == kCount && !flag);
      }
      MPI_Request_free(&request);
    }
    CHECK(way == 1 || is_column(in, kCount));
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&column);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&own);
}

// Memory at absolute addresses, by calls that send and receive at once and by persistent ones.
static void absolute_addresses(void) {
  enum { kCount = 5000 };
  static int numbers[kCount], got[kCount];
  static double last, got_last;
  const int lengths[2] = {kCount, 1};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Aint addresses[2];
  MPI_Datatype sent, received;
  MPI_Get_address(numbers, &addresses[0]);
  MPI_Get_address(&last, &addresses[1]);
  MPI_Type_create_struct(2, lengths, addresses, types, &sent);
  MPI_Get_address(got, &addresses[0]);
  MPI_Get_address(&got_last, &addresses[1]);
  MPI_Type_create_struct(2, lengths, addresses, types, &received);
  MPI_Type_commit(&sent);
  MPI_Type_commit(&received);
  MPI_Request requests[2];
  MPI_Send_init(MPI_BOTTOM, 1, sent, next, 61, comm, &requests[0]);
  MPI_Recv_init(MPI_BOTTOM, 1, received, previous, 61, comm, &requests[1]);
  for (int round = 0; round < 4; ++round) {
    MPI_Request send;
    numbers[kCount - 1] = 10 * rank + round;
    last = rank + 0.5 * round;
    got[kCount - 1] = -1;
    got_last = -1.0;
    if (round < 2) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (round == 2) {
      MPI_Isend(MPI_BOTTOM, 1, sent, next, 61, comm, &send);
      MPI_Recv(MPI_BOTTOM, 1, received, previous, 61, comm, MPI_STATUS_IGNORE);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    } else {
      MPI_Sendrecv(MPI_BOTTOM, 1, sent, next, 61, MPI_BOTTOM, 1, received, previous, 61, comm,
                   MPI_STATUS_IGNORE);
    }
    CHECK(got[kCount - 1] == 10 * previous + round && got_last == previous + 0.5 * round);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
}

// What is wrong with a persistent send is said where the MPI says it.
static void wrong_persistent_sends(void) {
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Datatype column;
  MPI_Type_vector(1000, 1, 3, MPI_DOUBLE, &column);
  double* out = calloc(3000, sizeof(double));
  MPI_Request request;
  // Not committed.
  CHECK(class_of(MPI_Send_init(out, 1, column, next, 43, own, &request)) == MPI_ERR_TYPE);
  MPI_Type_free(&column);
  free(out);
  MPI_Comm_free(&own);
}
