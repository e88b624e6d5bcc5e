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
// read the same clock; a limit on the time that it takes would not hold under other load.
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

// A probe does not complete a synchronous send, of any size: rank 0 sends to rank 1, which finds
// the message, reports that, and receives it when rank 0 has looked at its send again and again.
static void synchronous_at_a_probe(void) {
  enum { kNumKinds = 3, kNumLooks = 200 };
  const int sizes[4] = {8, 23, 1024, kLarge};
  for (int index = 0; index < 4; ++index) {
    for (int kind = 0; kind < kNumKinds; ++kind) {
      const int size = sizes[index];
      unsigned char* bytes = filled(size, 62);
      MPI_Request request;
      MPI_Status status;
      MPI_Message message;
      char token = 0;
      int flag = 0;
      if (rank == 0) {
        if (kind < 2) MPI_Issend(bytes, size, MPI_BYTE, 1, 62, comm, &request);
        if (kind == 2) MPI_Ssend_init(bytes, size, MPI_BYTE, 1, 62, comm, &request);
        if (kind == 2) MPI_Start(&request);
        MPI_Recv(&token, 1, MPI_CHAR, 1, 63, comm, &status);
        for (int look = 0; look < kNumLooks; ++look) {
          MPI_Test(&request, &flag, &status);
          CHECK(!flag);
          if (flag) break;
          usleep(200);
        }
        MPI_Send(&token, 1, MPI_CHAR, 1, 64, comm);
        if (kind == 0) MPI_Waitany(1, &request, &flag, &status);
        if (kind > 0) MPI_Wait(&request, &status);
        if (kind == 2) MPI_Request_free(&request);
      } else if (rank == 1) {
        unsigned char* in = room(size);
        if (kind == 0) MPI_Mprobe(0, 62, comm, &message, &status);
        if (kind > 0) MPI_Probe(0, 62, comm, &status);
        CHECK(count_of(&status) == size);
        MPI_Send(&token, 1, MPI_CHAR, 0, 63, comm);
        MPI_Recv(&token, 1, MPI_CHAR, 0, 64, comm, &status);
        if (kind == 0) MPI_Mrecv(in, size, MPI_BYTE, &message, &status);
        if (kind > 0) MPI_Recv(in, size, MPI_BYTE, 0, 62, comm, &status);
        CHECK(is_filled(in, size, 62) && count_of(&status) == size);
        free(in);
      }
      free(bytes);
    }
  }
}

// A synchronous send completes by a receive that was posted before, whatever its rank does now; and
// of several requests those complete that can.
static void synchronous_among_others(void) {
  unsigned char* bytes = filled(23, 65);
  unsigned char* in = room(23);
  MPI_Request requests[3];
  MPI_Status status;
  char token = 0;
  int index = -1;
  MPI_Irecv(in, 23, MPI_BYTE, previous, 65, comm, &requests[0]);
  MPI_Barrier(comm);
  MPI_Ssend(bytes, 23, MPI_BYTE, next, 65, comm);
  MPI_Barrier(comm);
  MPI_Wait(&requests[0], &status);
  CHECK(is_filled(in, 23, 65));
  if (rank == 0) {
    MPI_Issend(bytes, 23, MPI_BYTE, 1, 66, comm, &requests[0]);
    MPI_Irecv(&token, 1, MPI_CHAR, 1, 67, comm, &requests[1]);
    MPI_Waitany(2, requests, &index, &status);
    CHECK(index == 1);
    MPI_Send(&token, 1, MPI_CHAR, 1, 67, comm);
    MPI_Waitsome(2, requests, &index, (int[2]){0}, (MPI_Status[2]){{0}});
    CHECK(index == 1);
  } else if (rank == 1) {
    MPI_Probe(0, 66, comm, &status);
    MPI_Send(&token, 1, MPI_CHAR, 0, 67, comm);
    MPI_Recv(&token, 1, MPI_CHAR, 0, 67, comm, &status);
    MPI_Recv(in, 23, MPI_BYTE, 0, 66, comm, &status);
  }
  // With an inactive request, and one that completes only after the send.
  if (rank == 0) {
    MPI_Recv_init(&token, 1, MPI_CHAR, 1, 69, comm, &requests[2]);
    MPI_Irecv(&token, 1, MPI_CHAR, 1, 67, comm, &requests[1]);
    MPI_Issend(bytes, 23, MPI_BYTE, 1, 66, comm, &requests[0]);
    MPI_Waitany(3, requests, &index, &status);
    CHECK(index == 0 && requests[0] == MPI_REQUEST_NULL);
    MPI_Send(&token, 1, MPI_CHAR, 1, 68, comm);
    MPI_Waitany(3, requests, &index, &status);
    CHECK(index == 1);
    MPI_Request_free(&requests[2]);
  } else if (rank == 1) {
    MPI_Probe(0, 66, comm, &status);
    // Meanwhile the other rank most probably begins to wait.
    usleep(100000);
    MPI_Recv(in, 23, MPI_BYTE, 0, 66, comm, &status);
    MPI_Recv(&token, 1, MPI_CHAR, 0, 68, comm, &status);
    MPI_Send(&token, 1, MPI_CHAR, 0, 67, comm);
  }
  free(in);
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

// Sends that need a receive that has begun, by each of the calls for them.
static void ready(void) {
  for (int index = 0; index < kNumSizes; ++index) {
    const int size = kSizes[index];
    unsigned char* out = filled(size, seed_of(rank, 41));
    for (int how = 0; how < 3; ++how) {
      unsigned char* in = room(size);
      char token = 0;
      MPI_Request receive, send = MPI_REQUEST_NULL;
      MPI_Status status;
      MPI_Irecv(in, size, MPI_BYTE, how == 1 ? MPI_ANY_SOURCE : previous, 41, comm, &receive);
      MPI_Sendrecv_replace(&token, 1, MPI_CHAR, previous, 42, next, 42, comm, MPI_STATUS_IGNORE);
      if (how == 0) MPI_Rsend(out, size, MPI_BYTE, next, 41, comm);
      if (how == 1) MPI_Irsend(out, size, MPI_BYTE, next, 41, comm, &send);
      if (how == 2) MPI_Rsend_init(out, size, MPI_BYTE, next, 41, comm, &send), MPI_Start(&send);
      MPI_Wait(&receive, &status);
      CHECK(is_right(in, size, &status, previous, 41));
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      if (how == 2) MPI_Request_free(&send);
      free(in);
    }
    free(out);
  }
}
