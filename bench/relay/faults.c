// SPDX-License-Identifier: Apache-2.0
// Random messages between all ranks, each with a hash of what it holds. For every line "SEED" on
// standard input rank 0 begins a round, and prints "MESSAGES WRONG" at its end.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 64, kMessagesOfRank = 4, kBurst = 10 };
static const uint64_t kLargeBytes = 4u << 20;

typedef struct {
  int src, dst;
  uint64_t num_words;
  uint64_t seed;
} Message;

static int rank, num_ranks;

// SplitMix64 (Steele, Lea, Flood 2014).
static uint64_t next_of(uint64_t* state) {
  uint64_t word = *state += 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

static uint64_t hash_of(const uint64_t* words, uint64_t count) {
  uint64_t hash = count;
  for (uint64_t index = 0; index < count; ++index) {
    hash = (hash ^ words[index]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 33;
  }
  return hash;
}

static int other_than(int own, uint64_t* random) {
  return (own + 1 + (int)(next_of(random) % (uint64_t)(num_ranks - 1))) % num_ranks;
}

// The same on all ranks: sizes from 64 bytes to 4 MiB, as many of each power of two; in every other
// round one rank also sends more than a receiver keeps that has not matched it.
static int plan(uint64_t* random, Message* messages) {
  int count = 0;
  for (int src = 0; src < num_ranks; ++src) {
    for (int each = 0; each < kMessagesOfRank && count < kMost - kBurst; ++each) {
      const uint64_t bytes = 64u << next_of(random) % 16;
      messages[count++] = (Message){src, other_than(src, random), 0, 0};
      messages[count - 1].num_words = (bytes + next_of(random) % bytes) / 8;
    }
  }
  if (next_of(random) % 2 == 0) {
    const int src = (int)(next_of(random) % (uint64_t)num_ranks);
    const int dst = other_than(src, random);
    for (int each = 0; each < kBurst; ++each) {
      messages[count++] = (Message){src, dst, kLargeBytes / 8, 0};
    }
  }
  for (int each = 0; each < count; ++each) messages[each].seed = next_of(random);
  return count;
}

static uint64_t* filled(const Message* message) {
  uint64_t* words = malloc(8 * message->num_words);
  uint64_t state = words[0] = message->seed;
  const uint64_t last = message->num_words - 1;
  for (uint64_t index = 1; index < last; ++index) words[index] = next_of(&state);
  words[last] = hash_of(words, last);
  return words;
}

static int is_right(const Message* message, const uint64_t* words) {
  const uint64_t last = message->num_words - 1;
  return words[0] == message->seed && words[last] == hash_of(words, last);
}

// Receives are in reverse, and posted before anything is sent, or when all has been.
static int exchange(uint64_t seed, int* num_messages) {
  Message messages[kMost];
  MPI_Request requests[2 * kMost];
  uint64_t* all[2 * kMost];
  uint64_t random = seed;
  const int step_of_sends = (int)(next_of(&random) % 2);
  const int count = plan(&random, messages);
  int num_requests = 0;
  int received[kMost], num_received = 0;
  for (int step = 0; step < 2; ++step) {
    const int sends = step == step_of_sends;
    if (step == 1) MPI_Barrier(MPI_COMM_WORLD);
    for (int each = 0; each < count; ++each) {
      const int tag = sends ? each : count - 1 - each;
      const Message* message = &messages[tag];
      const int bytes = (int)(8 * message->num_words);
      if (sends && message->src == rank) {
        all[num_requests] = filled(message);
        MPI_Isend(all[num_requests], bytes, MPI_BYTE, message->dst, tag, MPI_COMM_WORLD,
                  &requests[num_requests]);
        ++num_requests;
      } else if (!sends && message->dst == rank) {
        received[num_received++] = num_requests;
        all[num_requests] = calloc(message->num_words, 8);
        MPI_Irecv(all[num_requests], bytes, MPI_BYTE, message->src, tag, MPI_COMM_WORLD,
                  &requests[num_requests]);
        ++num_requests;
      }
    }
  }
  MPI_Waitall(num_requests, requests, MPI_STATUSES_IGNORE);
  int num_wrong = 0;
  num_received = 0;
  for (int each = count - 1; each >= 0; --each) {
    if (messages[each].dst != rank) continue;
    num_wrong += !is_right(&messages[each], all[received[num_received++]]);
  }
  for (int each = 0; each < num_requests; ++each) free(all[each]);
  *num_messages = count;
  return num_wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  while (1) {
    unsigned long long seed = 0;
    if (rank == 0 && scanf("%llu", &seed) != 1) seed = 0;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (seed == 0) break;
    int num_messages = 0, num_wrong = 0;
    const int own_wrong = exchange(seed, &num_messages);
    MPI_Reduce(&own_wrong, &num_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d %d\n", num_messages, num_wrong), fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
