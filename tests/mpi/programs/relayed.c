// SPDX-License-Identifier: Apache-2.0
// What MPI promises of messages between two ranks, checked for messages of all sizes around an
// envelope's (23 bytes) and a threshold. Prints "ok" if all of it holds; each rank is paired with
// its neighbours in a ring.
//   relayed [threads | rounds N]
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLarge = 1 << 20, kNumSizes = 16 };
static const int kSizes[kNumSizes] = {
    0,    1,    8,     22,    23,    24,     100,    1023,
    1024, 1025, 65535, 65536, 65537, 200000, kLarge, 3 * kLarge + 5};
static int rank, num_ranks, next, previous, failures;
static MPI_Comm comm;

#define CHECK(claim)                                                                    \
  do {                                                                                  \
    if (!(claim) && failures++ < 10)                                                    \
      printf("rank %d, line %d: not so: %s\n", rank, __LINE__, #claim), fflush(stdout); \
  } while (0)

static unsigned char byte_of(long index, int seed) {
  return (unsigned char)(index * 31 + index / 251 + seed * 17 + 3);
}
static unsigned char* filled(long size, int seed) {
  unsigned char* bytes = malloc((size_t)size + 64);
  for (long index = 0; index < size; ++index) bytes[index] = byte_of(index, seed);
  return bytes;
}
static unsigned char* room(long size) {
  unsigned char* bytes = malloc((size_t)size + 64);
  memset(bytes, 0xee, (size_t)size + 64);
  return bytes;
}
// The message, and nothing behind it.
static int is_filled(const unsigned char* bytes, long size, int seed) {
  for (long index = 0; index < size; ++index)
    if (bytes[index] != byte_of(index, seed)) return 0;
  for (long index = size; index < size + 32; ++index)
    if (bytes[index] != 0xee) return 0;
  return 1;
}
static int count_of(MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  return count;
}
static int seed_of(int src, int tag) {
  return 7 * src + tag;
}
static int is_right(unsigned char* bytes, int size, MPI_Status* status, int src, int tag) {
  return count_of(status) == size && status->MPI_SOURCE == src && status->MPI_TAG == tag &&
         is_filled(bytes, size, seed_of(src, tag));
}

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

// A probe tells the size of the message, and changes no order.
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
    // The third one first, which may pull out those before it.
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

static int class_of(int code) {
  int result = MPI_SUCCESS;
  MPI_Error_class(code, &result);
  return result;
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

static void synchronous(void) {
  MPI_Barrier(comm);
  unsigned char* bytes = filled(kLarge, 1);
  if (rank == 0) {
    const double start = MPI_Wtime();
    MPI_Ssend(bytes, kLarge, MPI_BYTE, 1, 30, comm);
    CHECK(MPI_Wtime() - start > 0.2);
  } else if (rank == 1) {
    usleep(300000);
    MPI_Recv(bytes, kLarge, MPI_BYTE, 0, 30, comm, MPI_STATUS_IGNORE);
  }
  free(bytes);
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

static void to_oneself_and_nobody(void) {
  for (int index = 0; index < kNumSizes; ++index) {
    const int size = kSizes[index];
    unsigned char* out = filled(size, seed_of(rank, 40));
    unsigned char* in = room(size);
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(in, size, MPI_BYTE, rank, 40, comm, &request);
    MPI_Send(out, size, MPI_BYTE, rank, 40, comm);
    MPI_Wait(&request, &status);
    CHECK(is_right(in, size, &status, rank, 40));
    MPI_Send(out, size, MPI_BYTE, MPI_PROC_NULL, 0, comm);
    MPI_Recv(out, size, MPI_BYTE, MPI_PROC_NULL, 0, comm, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && count_of(&status) == 0);
    free(in);
    free(out);
  }
}

static void intercommunicator(void) {
  MPI_Comm half, between;
  const int color = rank % 2;
  MPI_Comm_split(comm, color, rank, &half);
  MPI_Intercomm_create(half, 0, comm, 1 - color, 3, &between);
  int own, num_others;
  MPI_Comm_rank(between, &own);
  MPI_Comm_remote_size(between, &num_others);
  if (own < num_others) {
    unsigned char* out = filled(kLarge, color);
    unsigned char* in = room(kLarge);
    MPI_Status status;
    MPI_Sendrecv(out, kLarge, MPI_BYTE, own, 1, in, kLarge, MPI_BYTE, own, 1, between, &status);
    CHECK(count_of(&status) == kLarge && is_filled(in, kLarge, 1 - color));
    free(in);
    free(out);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
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

static void threads(void) {
  enum { kNum = 4 };
  pthread_t all[kNum];
  int numbers[kNum];
  for (int index = 0; index < kNum; ++index) {
    numbers[index] = index;
    pthread_create(&all[index], NULL, exchange, &numbers[index]);
  }
  for (int index = 0; index < kNum; ++index) pthread_join(all[index], NULL);
}

// Messages of random sizes around the ring, for as long as somebody wants to disturb their routers.
static void rounds(int num_rounds) {
  unsigned random = 1;
  for (int round = 0; round < num_rounds; ++round) {
    random = random * 1103515245u + 12345u;
    const int size = (int)(random >> 8) % kLarge;
    unsigned char* out = filled(size, seed_of(rank, round));
    unsigned char* in = room(size);
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(in, size, MPI_BYTE, previous, round % 1000, comm, &request);
    MPI_Send(out, size, MPI_BYTE, next, round % 1000, comm);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status) == size && is_filled(in, size, seed_of(previous, round)));
    free(in);
    free(out);
  }
}

static void say(const char* what) {
  MPI_Barrier(comm);
  if (rank == 0 && getenv("RELAYED_VERBOSE")) fprintf(stderr, "%s\n", what);
}

static void all_calls(void) {
  say("blocking calls"), blocking_calls();
  say("order"), order();
  say("completion"), completion();
  say("probes"), probes();
  say("truncation"), truncation();
  say("persistent"), persistent();
  say("derived types"), derived_types();
  say("no new deadlock"), no_new_deadlock();
  say("synchronous"), synchronous();
  say("buffered"), buffered();
  say("to oneself"), to_oneself_and_nobody();
  say("intercommunicator"), intercommunicator();
}

int main(int argc, char** argv) {
  int level = 0;
  const int has_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  if (has_threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
  } else {
    MPI_Init(&argc, &argv);
  }
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &num_ranks);
  next = (rank + 1) % num_ranks;
  previous = (rank + num_ranks - 1) % num_ranks;
  if (has_threads) {
    threads();
  } else if (argc > 2) {
    rounds(atoi(argv[2]));
  } else {
    all_calls();
    MPI_Comm world = comm;
    // The other way round, and a communicator of its own.
    MPI_Comm_split(world, 0, num_ranks - rank, &comm);
    MPI_Comm_rank(comm, &rank);
    next = (rank + 1) % num_ranks;
    previous = (rank + num_ranks - 1) % num_ranks;
    say("reversed"), order(), probes(), completion();
    MPI_Comm_free(&comm);
    comm = world;
    MPI_Comm_rank(comm, &rank);
    next = (rank + 1) % num_ranks;
    previous = (rank + num_ranks - 1) % num_ranks;
    say("cancelled and freed"), cancelled_and_freed();
  }
  int sum = 0;
  MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0) printf(sum == 0 ? "ok\n" : "failed\n");
  MPI_Finalize();
  return failures > 0;
}
