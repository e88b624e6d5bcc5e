// SPDX-License-Identifier: Apache-2.0
// What MPI promises of messages between two ranks, checked for messages of all sizes around a
// rendezvous header's (23 bytes) and a threshold. Prints "ok" if all of it holds; each rank is
// paired with its neighbours in a ring.
//   relayed [threads | rounds N | unreceived]
#include "relayed/endings.h"
#include "relayed/persistent.h"
#include "relayed/receives.h"
#include "relayed/requests.h"
#include "relayed/threads.h"

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

// Messages of random sizes around the ring, while the test disturbs the routers.
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
  say("truncated exchanges"), truncated_exchanges();
  say("empty exchange after a probe"), empty_exchange_after_a_probe();
  say("room for huge messages"), room_for_huge_messages();
  say("persistent"), persistent();
  say("started after a probe"), started_after_probe();
  say("started in order"), started_in_order();
  say("started after a probe otherwise"), started_after_probe_otherwise();
  say("absolute addresses"), absolute_addresses();
  say("wrong persistent sends"), wrong_persistent_sends();
  say("derived types"), derived_types();
  say("no new deadlock"), no_new_deadlock();
  say("synchronous"), synchronous();
  say("synchronous at a probe"), synchronous_at_a_probe();
  say("synchronous among others"), synchronous_among_others();
  say("started exchanges"), started_exchanges();
  say("buffered"), buffered();
  say("ready"), ready();
  say("cancelled too late"), cancelled_too_late();
  say("cancelled sends"), cancelled_sends();
  say("freed communicators"), freed_communicators();
  say("wrong sends"), wrong_sends();
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
    say("exchanges"), on_threads(4, exchange);
    say("persistent exchanges"), on_threads(4, persistent_exchange);
    say("probed streams"), probed_stream();
    say("freed during sends"), freed_during_sends();
  } else if (argc > 1 && strcmp(argv[1], "unreceived") == 0) {
    never_received();
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
  if (argc == 1) freed_at_the_end();
  int sum = 0;
  MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0) printf(sum == 0 ? "ok\n" : "failed\n");
  MPI_Finalize();
  return failures > 0;
}
