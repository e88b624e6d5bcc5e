// SPDX-License-Identifier: Apache-2.0
// How sends and receives that have begun come to their end.
#pragma once

#include <time.h>
#include <unistd.h>

#include "messages.h"

static void completion(void) {
  enum { kNum = kNumSizes };
  for (int how = 0; how < 7; ++how) {
    MPI_Request in_requests[kNum + 1], out_requests[kNum];
    unsigned char *in[kNum], *out[kNum];
    int is_done[kNum] = {0};
    for (int index = 0; index < kNum; ++index) {
      in[index] = room(kSizes[index]);
      MPI_Irecv(in[index], kSizes[index], MPI_BYTE, previous, 100 + index, comm,
                &in_requests[index]);
    }
    in_requests[kNum] = MPI_REQUEST_NULL;
    for (int index = kNum - 1; index >= 0; --index) {
      out[index] = filled(kSizes[index], seed_of(rank, 100 + index));
      MPI_Isend(out[index], kSizes[index], MPI_BYTE, next, 100 + index, comm, &out_requests[index]);
    }
    MPI_Status statuses[kNum + 1], status;
    int indices[kNum + 1], num_done, flag = 0, num_left = kNum;
    if (how == 0) MPI_Waitall(kNum + 1, in_requests, statuses), flag = 1;
    while (how == 1 && !flag) MPI_Testall(kNum + 1, in_requests, &flag, statuses);
    if (flag) {
      for (int index = 0; index < kNum; ++index) {
        CHECK(is_right(in[index], kSizes[index], &statuses[index], previous, 100 + index));
        is_done[index] = 1;
      }
      num_left = 0;
    }
    while (num_left > 0) {
      num_done = 1;
      flag = 1;
      if (how == 2) MPI_Waitany(kNum + 1, in_requests, indices, statuses);
      if (how == 3) MPI_Testany(kNum + 1, in_requests, indices, &flag, statuses);
      if (how == 4) MPI_Waitsome(kNum + 1, in_requests, &num_done, indices, statuses);
      if (how == 5) MPI_Testsome(kNum + 1, in_requests, &num_done, indices, statuses);
      if (how == 6) {
        // Each in turn, after a look that changes nothing.
        indices[0] = kNum - num_left;
        MPI_Request_get_status(in_requests[indices[0]], &flag, &status);
        if (!flag) continue;
        CHECK(is_right(in[indices[0]], kSizes[indices[0]], &status, previous, 100 + indices[0]) ||
              count_of(&status) == kSizes[indices[0]]);
        MPI_Test(&in_requests[indices[0]], &flag, statuses);
        CHECK(flag);
      }
      CHECK(num_done != MPI_UNDEFINED);
      if (num_done == MPI_UNDEFINED) break;
      for (int done = 0; flag && done < num_done; ++done) {
        const int index = indices[done];
        CHECK(index >= 0 && index < kNum && !is_done[index]);
        CHECK(is_right(in[index], kSizes[index], &statuses[done], previous, 100 + index));
        CHECK(in_requests[index] == MPI_REQUEST_NULL);
        is_done[index] = 1;
        --num_left;
      }
    }
    MPI_Waitall(kNum, out_requests, MPI_STATUSES_IGNORE);
    for (int index = 0; index < kNum; ++index) free(in[index]), free(out[index]);
  }
}

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

// A send completes when its receive is posted, although the receiver is in another call by then.
static void no_new_deadlock(void) {
  unsigned char* out = filled(4 * kLarge, seed_of(rank, 20));
  unsigned char* in = room(4 * kLarge);
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(in, 4 * kLarge, MPI_BYTE, previous, 20, comm, &request);
  MPI_Barrier(comm);
  MPI_Ssend(out, 4 * kLarge, MPI_BYTE, next, 20, comm);
  MPI_Barrier(comm);
  MPI_Wait(&request, &status);
  CHECK(is_right(in, 4 * kLarge, &status, previous, 20));
  free(in);
  free(out);
}

static double clock_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// It ends after its receive has begun, however late that is. All ranks are on one machine, so they
// read the same clock; a limit on the time that it takes would not hold beside other load.
static void synchronous(void) {
  unsigned char* bytes = filled(kLarge, 1);
  double begun_s = 0.0;
  if (rank == 0) {
    MPI_Ssend(bytes, kLarge, MPI_BYTE, 1, 30, comm);
    const double ended_s = clock_s();
    MPI_Recv(&begun_s, 1, MPI_DOUBLE, 1, 30, comm, MPI_STATUS_IGNORE);
    CHECK(ended_s > begun_s);
  } else if (rank == 1) {
    usleep(300000);
    begun_s = clock_s();
    MPI_Recv(bytes, kLarge, MPI_BYTE, 0, 30, comm, MPI_STATUS_IGNORE);
    MPI_Send(&begun_s, 1, MPI_DOUBLE, 0, 30, comm);
  }
  free(bytes);
}

// Nonblocking exchanges, the second time of a message that a probe has found before.
static void started_exchanges(void) {
#if MPI_VERSION >= 4
  for (int index = 0; index < kNumSizes; ++index) {
    for (int is_probed = 0; is_probed < 2; ++is_probed) {
      const int size = kSizes[index];
      unsigned char* out = filled(size, seed_of(rank, 36));
      unsigned char* in = room(size);
      MPI_Request first = MPI_REQUEST_NULL, request;
      MPI_Status status;
      if (is_probed) {
        MPI_Isend(out, size, MPI_BYTE, next, 36, comm, &first);
        MPI_Probe(previous, 36, comm, &status);
        CHECK(count_of(&status) == size);
      }
      MPI_Isendrecv(out, size, MPI_BYTE, next, 36, in, size, MPI_BYTE,
                    index % 2 ? MPI_ANY_SOURCE : previous, 36, comm, &request);
      MPI_Wait(&request, &status);
      CHECK(is_right(in, size, &status, previous, 36));
      if (is_probed) {
        MPI_Recv(in, size, MPI_BYTE, previous, 36, comm, &status);
        CHECK(is_right(in, size, &status, previous, 36));
      }
      MPI_Wait(&first, MPI_STATUS_IGNORE);
      memset(out + size, 0xee, 32);
      MPI_Isendrecv_replace(out, size, MPI_BYTE, next, 37, previous, 37, comm, &request);
      MPI_Waitall(1, &request, &status);
      CHECK(count_of(&status) == size && is_filled(out, size, seed_of(previous, 36)));
      free(in);
      free(out);
    }
  }
#endif
}

static void buffered(void) {
  const int size = kLarge + 2 * MPI_BSEND_OVERHEAD + 1024;
  void* buffer = malloc((size_t)size);
  int detached;
  MPI_Buffer_attach(buffer, size);
  unsigned char* out = filled(kLarge, seed_of(rank, 31));
  unsigned char* in = room(kLarge);
  MPI_Status status;
  MPI_Bsend(out, kLarge, MPI_BYTE, next, 31, comm);
  memset(out, 0, kLarge);
  MPI_Recv(in, kLarge, MPI_BYTE, previous, 31, comm, &status);
  CHECK(is_right(in, kLarge, &status, previous, 31));
  MPI_Buffer_detach(&buffer, &detached);
  free(buffer);
  free(in);
  free(out);
}

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
