// SPDX-License-Identifier: Apache-2.0
// A ring of messages, between memory of any two kinds, by calls of all kinds.
#pragma once

#include <string.h>

#include "checked.h"

enum { most_bytes = 200000, tag = 5 };

struct message {
  char* from;
  char* to;
  int bytes;
  int next;
  int previous;
};

static unsigned char byte_of(int rank, int place, int number) {
  return (unsigned char)(31 * rank + 7 * place + number);
}

static int message_number;

static void fill(const struct message* message) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ++message_number;
  unsigned char* const content = device_alias(message->from);
  for (int place = 0; place < message->bytes; ++place) {
    content[place] = byte_of(rank, place, message_number);
  }
  if (message->to != message->from) memset(device_alias(message->to), 0, most_bytes);
}

static void check(const struct message* message, int stride, MPI_Status* status, const char* what) {
  const unsigned char* const content = device_alias(message->to);
  for (int place = 0; place < message->bytes; ++place) {
    require(content[place * stride] == byte_of(message->previous, place, message_number), what,
            place);
    const int is_in_gap = stride == 2 && content[2 * place + 1] != 0;
    require(!is_in_gap, what, place);
  }
  if (status == NULL) return;
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  require(count == message->bytes && status->MPI_SOURCE == message->previous, what, count);
}

static MPI_Request start_send(const struct message* message) {
  MPI_Request request;
  MPI_Isend(message->from, message->bytes, MPI_BYTE, message->next, tag, MPI_COMM_WORLD, &request);
  return request;
}

static void finish(MPI_Request request) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_blocking(const struct message* message) {
  fill(message);
  MPI_Status status;
  const MPI_Request sending = start_send(message);
  MPI_Recv(message->to, most_bytes, MPI_BYTE, message->previous, tag, MPI_COMM_WORLD, &status);
  check(message, 1, &status, "recv");
  finish(sending);
}

static void receive_first(const struct message* message) {
  fill(message);
  MPI_Status status;
  MPI_Request receiving;
  MPI_Irecv(message->to, most_bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &receiving);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(message->from, message->bytes, MPI_BYTE, message->next, tag, MPI_COMM_WORLD);
  MPI_Wait(&receiving, &status);
  check(message, 1, &status, "irecv");
}

static void receive_unexpected(const struct message* message) {
  fill(message);
  MPI_Status status;
  const MPI_Request sending = start_send(message);
  MPI_Probe(message->previous, tag, MPI_COMM_WORLD, &status);
  int count;
  MPI_Get_count(&status, MPI_BYTE, &count);
  require(count == message->bytes, "probe", count);
  MPI_Recv(message->to, count, MPI_BYTE, message->previous, tag, MPI_COMM_WORLD, &status);
  check(message, 1, &status, "recv after a probe");
  finish(sending);
}

static void receive_matched(const struct message* message) {
  fill(message);
  MPI_Status status;
  MPI_Message handle;
  MPI_Request sending = start_send(message);
  MPI_Mprobe(message->previous, MPI_ANY_TAG, MPI_COMM_WORLD, &handle, MPI_STATUS_IGNORE);
  MPI_Mrecv(message->to, message->bytes, MPI_BYTE, &handle, &status);
  check(message, 1, &status, "mrecv");
  finish(sending);
  fill(message);
  sending = start_send(message);
  MPI_Mprobe(message->previous, tag, MPI_COMM_WORLD, &handle, MPI_STATUS_IGNORE);
  MPI_Request receiving;
  MPI_Imrecv(message->to, message->bytes, MPI_BYTE, &handle, &receiving);
  MPI_Wait(&receiving, &status);
  check(message, 1, &status, "imrecv");
  finish(sending);
}

static void receive_persistent(const struct message* message) {
  MPI_Request both[2];
  MPI_Send_init(message->from, message->bytes, MPI_BYTE, message->next, tag, MPI_COMM_WORLD,
                &both[0]);
  MPI_Recv_init(message->to, most_bytes, MPI_BYTE, message->previous, tag, MPI_COMM_WORLD,
                &both[1]);
  MPI_Status statuses[2];
  fill(message);
  MPI_Startall(2, both);
  MPI_Waitall(2, both, statuses);
  check(message, 1, &statuses[1], "persistent");
  fill(message);
  MPI_Start(&both[0]);
  MPI_Probe(message->previous, tag, MPI_COMM_WORLD, &statuses[0]);
  MPI_Start(&both[1]);
  MPI_Waitall(2, both, statuses);
  check(message, 1, &statuses[1], "persistent after a probe");
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

static void receive_with_gaps(const struct message* message) {
  if (message->bytes > most_bytes / 2) return;
  fill(message);
  MPI_Datatype gaps;
  MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Request receiving;
  MPI_Irecv(message->to, most_bytes / 2, gaps, message->previous, tag, MPI_COMM_WORLD, &receiving);
  MPI_Type_free(&gaps);
  const MPI_Request sending = start_send(message);
  finish(receiving);
  check(message, 2, NULL, "with gaps");
  finish(sending);
}

static void exchange(const struct message* message) {
  fill(message);
  MPI_Status status;
  MPI_Sendrecv(message->from, message->bytes, MPI_BYTE, message->next, tag, message->to, most_bytes,
               MPI_BYTE, message->previous, tag, MPI_COMM_WORLD, &status);
  check(message, 1, &status, "sendrecv");
#if MPI_VERSION >= 4
  fill(message);
  MPI_Request request;
  MPI_Isendrecv(message->from, message->bytes, MPI_BYTE, message->next, tag, message->to,
                most_bytes, MPI_BYTE, message->previous, tag, MPI_COMM_WORLD, &request);
  finish(request);
  check(message, 1, NULL, "isendrecv");
#endif
  struct message one = *message;
  one.from = one.to;
  fill(&one);
  MPI_Sendrecv_replace(one.from, one.bytes, MPI_BYTE, one.next, tag, one.previous, tag,
                       MPI_COMM_WORLD, &status);
  check(&one, 1, &status, "sendrecv_replace");
}

static void exchange_messages(void) {
  int rank, num_ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  const struct buffers from = make_buffers(most_bytes);
  const struct buffers to = make_buffers(most_bytes);
  // The second one is that of a rendezvous header.
  const int sizes[] = {1, 23, 100, 4096, most_bytes};
  for (int size = 0; size < 5; ++size) {
    for (int kinds = 0; kinds < num_memory_kinds * num_memory_kinds; ++kinds) {
      const struct message message = {
          from.of_kind[kinds % num_memory_kinds],
          to.of_kind[(kinds / num_memory_kinds + rank) % num_memory_kinds], sizes[size],
          (rank + 1) % num_ranks, (rank + num_ranks - 1) % num_ranks};
      receive_blocking(&message);
      receive_first(&message);
      receive_unexpected(&message);
      receive_matched(&message);
      receive_persistent(&message);
      receive_with_gaps(&message);
      exchange(&message);
    }
  }
}
