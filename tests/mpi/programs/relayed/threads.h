// SPDX-License-Identifier: Apache-2.0
// Messages of several threads of a process.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "messages.h"

typedef void* (*Body)(void*);

static void on_threads(int num_threads, Body body) {
  enum { kMost = 8 };
  pthread_t all[kMost];
  int numbers[kMost];
  for (int index = 0; index < num_threads; ++index) {
    numbers[index] = index;
    pthread_create(&all[index], NULL, body, &numbers[index]);
  }
  for (int index = 0; index < num_threads; ++index) pthread_join(all[index], NULL);
}

static void* exchange(void* argument) {
  const int tag = 1000 * (1 + *(int*)argument);
  for (int round = 0; round < 6 * kNumSizes; ++round) {
    const int size = kSizes[(round * 7) % kNumSizes];
    unsigned char* out = filled(size, seed_of(rank, tag + round));
    unsigned char* in = room(size);
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(out, size, MPI_BYTE, next, tag + round, comm, &request);
    if (round % 3 == 0) {
      MPI_Probe(previous, tag + round, comm, &status);
      CHECK(count_of(&status) == size);
    }
    if (round % 3 == 1) {
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, tag + round, comm, &message, &status);
      MPI_Mrecv(in, size, MPI_BYTE, &message, &status);
    } else {
      MPI_Recv(in, size, MPI_BYTE, previous, tag + round, comm, &status);
    }
    CHECK(is_right(in, size, &status, previous, tag + round));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(in);
    free(out);
  }
  return NULL;
}

static void* persistent_exchange(void* argument) {
  const int tag = 500 + *(int*)argument;
  for (int index = 0; index < kNumSizes; ++index) {
    const int size = kSizes[index];
    unsigned char* out = filled(size, 0);
    unsigned char* in = room(size);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Send_init(out, size, MPI_BYTE, next, tag, comm, &requests[0]);
    MPI_Recv_init(in, size, MPI_BYTE, previous, tag, comm, &requests[1]);
    for (int round = 0; round < 4; ++round) {
      for (long each = 0; each < size; ++each) out[each] = byte_of(each, seed_of(rank, round));
      memset(in, 0xee, (size_t)size + 64);
      MPI_Start(&requests[0]);
      if (round % 2) MPI_Probe(previous, tag, comm, &status);
      MPI_Start(&requests[1]);
      for (int num_left = 2; num_left > 0; --num_left) {
        int done;
        MPI_Waitany(2, requests, &done, &status);
        CHECK(done == 0 || done == 1);
        if (done == 1) {
          CHECK(count_of(&status) == size && is_filled(in, size, seed_of(previous, round)));
        }
      }
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(in);
    free(out);
  }
  return NULL;
}

enum { kStreamTag = 600, kStreamBytes = 2000, kStreamMessages = 2000 };
static atomic_int is_stream_over;

static void* probe_stream(void* argument) {
  (void)argument;
  while (!is_stream_over) {
    int flag;
    MPI_Iprobe(previous, kStreamTag, comm, &flag, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void* receive_stream(void* argument) {
  (void)argument;
  unsigned char* in = room(kStreamBytes);
  MPI_Request request;
  MPI_Status status;
  MPI_Recv_init(in, kStreamBytes, MPI_BYTE, previous, kStreamTag, comm, &request);
  for (int number = 0; number < kStreamMessages; ++number) {
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status) == kStreamBytes && is_filled(in, kStreamBytes, number));
  }
  MPI_Request_free(&request);
  free(in);
  is_stream_over = 1;
  return NULL;
}

static void* send_stream(void* argument) {
  (void)argument;
  for (int number = 0; number < kStreamMessages; ++number) {
    unsigned char* out = filled(kStreamBytes, number);
    MPI_Send(out, kStreamBytes, MPI_BYTE, next, kStreamTag, comm);
    free(out);
  }
  return NULL;
}

// A persistent receive gets all messages, in order, while another thread probes for the same.
static void probed_stream(void) {
  const Body bodies[3] = {probe_stream, receive_stream, send_stream};
  pthread_t all[3];
  for (int index = 0; index < 3; ++index) pthread_create(&all[index], NULL, bodies[index], NULL);
  for (int index = 0; index < 3; ++index) pthread_join(all[index], NULL);
}

enum { kNumFreed = 50 };
static MPI_Comm base_of_freed;
static atomic_int are_all_freed;

// Communicators are used and freed while their messages are on their way.
static void* free_communicators(void* argument) {
  (void)argument;
  for (int number = 0; number < kNumFreed; ++number) {
    unsigned char* out = filled(2000, number);
    unsigned char* in = room(2000);
    MPI_Comm own;
    MPI_Request requests[2];
    MPI_Comm_dup(base_of_freed, &own);
    MPI_Irecv(in, 2000, MPI_BYTE, previous, 1, own, &requests[0]);
    MPI_Isend(out, 2000, MPI_BYTE, next, 1, own, &requests[1]);
    MPI_Comm_free(&own);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(is_filled(in, 2000, number));
    free(in);
    free(out);
  }
  are_all_freed = 1;
  return NULL;
}

static void* send_to_oneself(void* argument) {
  const MPI_Comm own = *(MPI_Comm*)argument;
  while (!are_all_freed) {
    char out = 1, in = 0;
    MPI_Sendrecv(&out, 1, MPI_CHAR, rank, 1, &in, 1, MPI_CHAR, rank, 1, own, MPI_STATUS_IGNORE);
    CHECK(in == 1);
  }
  return NULL;
}

static void freed_during_sends(void) {
  MPI_Comm used;
  MPI_Comm_dup(comm, &used);
  MPI_Comm_dup(comm, &base_of_freed);
  pthread_t freeing, sending;
  pthread_create(&sending, NULL, send_to_oneself, &used);
  pthread_create(&freeing, NULL, free_communicators, NULL);
  pthread_join(freeing, NULL);
  pthread_join(sending, NULL);
  MPI_Comm_free(&base_of_freed);
  MPI_Comm_free(&used);
}
