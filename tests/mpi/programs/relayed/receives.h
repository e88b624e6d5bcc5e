// SPDX-License-Identifier: Apache-2.0
// What a receive or a probe finds: order, sizes, errors and types.
#pragma once

#include <stddef.h>

#include "messages.h"

static void blocking_calls(void) {
  for (int index = 0; index < kNumSizes; ++index) {
    const int size = kSizes[index];
    unsigned char* out = filled(size, seed_of(rank, index));
    unsigned char* in = room(size);
    MPI_Status status;
    if (rank % 2 == 0) MPI_Send(out, size, MPI_BYTE, next, index, comm);
    MPI_Recv(in, size, MPI_BYTE, previous, index, comm, &status);
    if (rank % 2 == 1) MPI_Send(out, size, MPI_BYTE, next, index, comm);
    CHECK(is_right(in, size, &status, previous, index));
    free(in);
    in = room(size + 4096);
    MPI_Sendrecv(out, size, MPI_BYTE, next, index, in, size + 4096, MPI_BYTE, MPI_ANY_SOURCE, index,
                 comm, &status);
    CHECK(is_right(in, size, &status, previous, index));
    free(in);
    // In place: what is received replaces what was sent.
    MPI_Sendrecv_replace(out, size, MPI_BYTE, next, index, previous, index, comm, &status);
    memset(out + size, 0xee, 32);
    CHECK(is_right(out, size, &status, previous, index));
    free(out);
  }
}

// Messages with one tag arrive in order, whatever their sizes and however they are received.
static void order(void) {
  enum { kNum = 3 * kNumSizes };
  MPI_Request requests[kNum];
  unsigned char* out[kNum];
  for (int index = 0; index < kNum; ++index) {
    const int size = kSizes[(5 * index) % kNumSizes];
    out[index] = filled(size, seed_of(rank, index));
    if (index % 3 == 0) {
      MPI_Isend(out[index], size, MPI_BYTE, next, 9, comm, &requests[index]);
    } else {
      MPI_Issend(out[index], size, MPI_BYTE, next, 9, comm, &requests[index]);
    }
  }
  for (int index = 0; index < kNum; ++index) {
    const int size = kSizes[(5 * index) % kNumSizes];
    unsigned char* in = room(size + 10);
    MPI_Status status;
    MPI_Request request;
    if (index % 4 == 0) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    if (index % 4 == 0) CHECK(count_of(&status) == size && status.MPI_TAG == 9);
    if (index % 2 == 0) {
      MPI_Recv(in, size + 10, MPI_BYTE, previous, MPI_ANY_TAG, comm, &status);
    } else {
      MPI_Irecv(in, size + 10, MPI_BYTE, MPI_ANY_SOURCE, 9, comm, &request);
      MPI_Wait(&request, &status);
    }
    CHECK(count_of(&status) == size && is_filled(in, size, seed_of(previous, index)));
    free(in);
  }
  MPI_Waitall(kNum, requests, MPI_STATUSES_IGNORE);
  for (int index = 0; index < kNum; ++index) free(out[index]);
}

// A probe returns the size of the message, and changes no order.
static void probes(void) {
  for (int large = 0; large < kNumSizes; ++large) {
    MPI_Request requests[4];
    const int sizes[4] = {50, kSizes[large], kLarge, 3};
    unsigned char* out[4];
    for (int index = 0; index < 4; ++index) {
      out[index] = filled(sizes[index], seed_of(rank, index));
      MPI_Isend(out[index], sizes[index], MPI_BYTE, next, index, comm, &requests[index]);
    }
    MPI_Status status;
    int flag = 0;
    // The third one first, which may extract those before it.
    MPI_Probe(previous, 2, comm, &status);
    CHECK(count_of(&status) == kLarge && status.MPI_SOURCE == previous);
    while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, &status);
    CHECK(count_of(&status) == sizes[1]);
    unsigned char* in = room(kLarge * 4);
    MPI_Recv(in, kLarge * 4, MPI_BYTE, previous, MPI_ANY_TAG, comm, &status);
    CHECK(is_right(in, 50, &status, previous, 0));
    free(in);
    MPI_Message message;
    in = room(sizes[1]);
    if (large % 2 == 0) {
      MPI_Mprobe(previous, MPI_ANY_TAG, comm, &message, &status);
      CHECK(count_of(&status) == sizes[1] && status.MPI_TAG == 1);
      MPI_Mrecv(in, sizes[1], MPI_BYTE, &message, &status);
    } else {
      MPI_Request request;
      flag = 0;
      while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 1, comm, &flag, &message, &status);
      CHECK(count_of(&status) == sizes[1] && status.MPI_SOURCE == previous);
      MPI_Imrecv(in, sizes[1], MPI_BYTE, &message, &request);
      MPI_Wait(&request, &status);
    }
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK(is_right(in, sizes[1], &status, previous, 1));
    free(in);
    in = room(kLarge);
    MPI_Request request;
    MPI_Irecv(in, kLarge, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    MPI_Wait(&request, &status);
    CHECK(is_right(in, kLarge, &status, previous, 2));
    free(in);
    in = room(3);
    MPI_Recv(in, 3, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK(is_right(in, 3, &status, previous, 3));
    free(in);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int index = 0; index < 4; ++index) free(out[index]);
  }
}

// A message that is larger than the buffer is an error of the receive, and of nothing else.
static void truncation(void) {
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  // MPICH reports errors of requests to MPI_COMM_WORLD.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int rooms[3] = {10, 100, 70000};
  for (int index = 0; index < 3; ++index) {
    for (int how = 0; how < 4; ++how) {
      unsigned char* out = filled(kLarge, seed_of(rank, 5));
      unsigned char* in = room(kLarge);
      MPI_Request request, requests[2];
      MPI_Status status, statuses[2];
      int code = MPI_SUCCESS;
      if (how == 0) {
        MPI_Isend(out, kLarge, MPI_BYTE, next, 5, own, &request);
        code = MPI_Recv(in, rooms[index], MPI_BYTE, previous, 5, own, &status);
      } else if (how == 3) {
        MPI_Message message;
        MPI_Isend(out, kLarge, MPI_BYTE, next, 5, own, &request);
        MPI_Mprobe(previous, 5, own, &message, &status);
        CHECK(count_of(&status) == kLarge);
        code = MPI_Mrecv(in, rooms[index], MPI_BYTE, &message, &status);
      } else {
        MPI_Irecv(in, rooms[index], MPI_BYTE, previous, 5, own, &requests[0]);
        MPI_Irecv(in + rooms[index], 4, MPI_BYTE, previous, 6, own, &requests[1]);
        MPI_Isend(out, kLarge, MPI_BYTE, next, 5, own, &request);
        MPI_Send(out, 4, MPI_BYTE, next, 6, own);
        if (how == 1) code = MPI_Wait(&requests[0], &status);
        if (how == 1) MPI_Wait(&requests[1], &status);
        if (how == 2) {
          CHECK(class_of(MPI_Waitall(2, requests, statuses)) == MPI_ERR_IN_STATUS);
          code = statuses[0].MPI_ERROR;
          if (statuses[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&requests[1], &statuses[1]);
        }
      }
      CHECK(class_of(code) == MPI_ERR_TRUNCATE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      free(in);
      // The next one is not touched.
      in = room(kLarge);
      MPI_Sendrecv(out, kLarge, MPI_BYTE, next, 5, in, kLarge, MPI_BYTE, previous, 5, own, &status);
      CHECK(is_right(in, kLarge, &status, previous, 5));
      free(in);
      free(out);
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&own);
}

// The same for an exchange, whose error is one of its communicator, not of MPI_COMM_WORLD.
static void truncated_exchanges(void) {
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  const int sizes[3] = {40, 100, kLarge};
  for (int index = 0; index < 3; ++index) {
    unsigned char* out = filled(kLarge, seed_of(rank, 51));
    // Open MPI itself writes all of a message into a buffer that is too small.
    unsigned char* in = room(kLarge);
    MPI_Status status;
    int code = MPI_Sendrecv(out, sizes[index], MPI_BYTE, next, 51, in, 30, MPI_BYTE, previous, 51,
                            own, &status);
    CHECK(class_of(code) == MPI_ERR_TRUNCATE);
    MPI_Barrier(own);
    code = MPI_Sendrecv(out, kLarge, MPI_BYTE, next, 51, in, kLarge, MPI_BYTE, previous, 51, own,
                        &status);
    CHECK(code == MPI_SUCCESS && is_right(in, kLarge, &status, previous, 51));
    free(in);
    free(out);
  }
  MPI_Comm_free(&own);
}

// An empty message that a probe of a later one has extracted.
static void empty_exchange_after_a_probe(void) {
  unsigned char* out = filled(kLarge, seed_of(rank, 54));
  unsigned char* in = room(kLarge);
  MPI_Request sends[2];
  MPI_Status status;
  MPI_Isend(out, 0, MPI_BYTE, next, 53, comm, &sends[0]);
  MPI_Isend(out, kLarge, MPI_BYTE, next, 54, comm, &sends[1]);
  MPI_Probe(previous, 54, comm, &status);
  MPI_Sendrecv_replace(in, 0, MPI_BYTE, next, 55, previous, 53, comm, &status);
  CHECK(count_of(&status) == 0 && status.MPI_TAG == 53);
  MPI_Recv(in, kLarge, MPI_BYTE, previous, 54, comm, &status);
  CHECK(is_right(in, kLarge, &status, previous, 54));
  MPI_Recv(in, 0, MPI_BYTE, previous, 55, comm, &status);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  free(in);
  free(out);
}

// More than 2 GiB of memory with gaps, of which nearly nothing is touched.
static void room_for_huge_messages(void) {
  enum { kCount = 70000, kBlocks = 32768, kSent = 40000 };
  MPI_Datatype column;
  MPI_Type_vector(kBlocks, 1, 2, MPI_BYTE, &column);
  MPI_Type_commit(&column);
  unsigned char* out = filled(kSent, seed_of(rank, 56));
  unsigned char* in = malloc(2ul * kBlocks * kCount);
  CHECK(in != NULL);
  memset(in, 0xee, 2 * kSent);
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(in, kCount, column, previous, 56, comm, &request);
  MPI_Send(out, kSent, MPI_BYTE, next, 56, comm);
  MPI_Wait(&request, &status);
  int count = 0;
  MPI_Get_elements(&status, MPI_BYTE, &count);
  CHECK(count == kSent);
  for (int each = 0; each < kSent; ++each) {
    // A column ends with its last byte, so the next one begins there.
    const int place = 2 * each - each / kBlocks;
    CHECK(in[place] == byte_of(each, seed_of(previous, 56)));
  }
  MPI_Type_free(&column);
  free(in);
  free(out);
}

typedef struct {
  char letter;
  double number;
  short pair[2];
} Mixed;

static MPI_Datatype mixed_type(void) {
  const int lengths[3] = {1, 1, 2};
  const MPI_Aint places[3] = {offsetof(Mixed, letter), offsetof(Mixed, number),
                              offsetof(Mixed, pair)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype packed, type;
  MPI_Type_create_struct(3, lengths, places, types, &packed);
  MPI_Type_create_resized(packed, 0, sizeof(Mixed), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&packed);
  return type;
}

// Memory with gaps at either end; the gaps stay as they are. The type is freed at once.
static void derived_types(void) {
  const int counts[4] = {1, 2, 100, 30000};
  for (int index = 0; index < 4; ++index) {
    const int count = counts[index];
    MPI_Datatype column;
    MPI_Type_vector(count, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double* out = malloc(sizeof(double) * 3 * (size_t)count);
    double* in = malloc(sizeof(double) * 3 * (size_t)count);
    double* line = malloc(sizeof(double) * (size_t)count);
    for (int each = 0; each < 3 * count; ++each) out[each] = rank * 1e6 + each, in[each] = -1.0;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(in, 1, column, previous, 11, comm, &requests[0]);
    MPI_Isend(out, 1, column, next, 11, comm, &requests[1]);
    MPI_Type_free(&column);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int each = 0; each < 3 * count; ++each)
      CHECK(in[each] == (each % 3 || each / 3 >= count ? -1.0 : previous * 1e6 + each));
    // From plain memory into a column, and a shorter message than fits.
    MPI_Type_vector(count, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int each = 0; each < 3 * count; ++each) in[each] = -1.0;
    for (int each = 0; each < count; ++each) line[each] = rank + 0.5 * each;
    const int some = count > 1 ? count - 1 : 1;
    MPI_Irecv(in, 1, column, previous, 12, comm, &requests[0]);
    MPI_Send(line, some, MPI_DOUBLE, next, 12, comm);
    MPI_Wait(&requests[0], &status);
    int elements = 0;
    MPI_Get_elements(&status, MPI_DOUBLE, &elements);
    CHECK(elements == some);
    for (int each = 0; each < 3 * count; ++each)
      CHECK(in[each] == (each % 3 || each / 3 >= some ? -1.0 : previous + 0.5 * (each / 3)));
    MPI_Type_free(&column);
    free(out);
    free(in);
    free(line);

    MPI_Datatype mixed = mixed_type();
    Mixed* sent = calloc((size_t)count, sizeof(Mixed));
    Mixed* got = calloc((size_t)count, sizeof(Mixed));
    for (int each = 0; each < count; ++each) {
      sent[each].letter = (char)(each + rank);
      sent[each].number = each * 1.5 + rank;
      sent[each].pair[0] = (short)each;
      sent[each].pair[1] = (short)rank;
    }
    MPI_Sendrecv(sent, count, mixed, next, 13, got, count, mixed, previous, 13, comm, &status);
    int got_count = 0;
    MPI_Get_count(&status, mixed, &got_count);
    CHECK(got_count == count);
    for (int each = 0; each < count; ++each)
      CHECK(got[each].letter == (char)(each + previous) && got[each].pair[0] == (short)each &&
            got[each].number == each * 1.5 + previous && got[each].pair[1] == previous);
    MPI_Type_free(&mixed);
    free(sent);
    free(got);
  }
}
