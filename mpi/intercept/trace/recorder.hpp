// SPDX-License-Identifier: Apache-2.0
// Turns calls that succeeded into counts. Nothing here throws: after an error the tracer prints one
// line and switches itself off.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "handles/communicator.hpp"
#include "handles/window.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "trace/counters.hpp"
#include "trace/meaning.hpp"
#include "trace/persistent_request.hpp"

namespace fairlead::intercept {

/// True between MPI_Init and MPI_Finalize of a traced program. The only cost of a disabled tracer.
extern std::atomic<bool> recording;
[[nodiscard]] inline bool is_recording() noexcept {
  return recording.load(std::memory_order_acquire);
}

/// Prints one line on stderr and stops recording; the program continues as without the tracer.
void switch_off(const char* reason) noexcept;

/// One thread's counters, and the communicators and windows it used last.
struct ThreadRecord {
  explicit ThreadRecord(std::size_t num_ranks) : counters(num_ranks) {}

  [[nodiscard]] const Communicator& communicator(MPI_Comm comm) {
    return communicators.find(comm, &find_communicator);
  }
  [[nodiscard]] const Window& window(MPI_Win win) { return windows.find(win, &find_window); }

  Counters counters;
  RecentHandles<MPI_Comm, Communicator, 16> communicators;
  RecentHandles<MPI_Win, Window, 4> windows;
};

/// This thread's record, made at its first traced call; null when that fails.
[[nodiscard]] ThreadRecord* this_thread() noexcept;

/// Sets the number of ranks; before the first traced call.
void prepare_records(std::size_t num_ranks);

/// The counters of all threads, those that ended included. The threads may go on counting. Nothing
/// where a thread has held the lock of what grows for a second: a signal may have stopped it there.
[[nodiscard]] std::optional<Counters> sum_of_records(std::size_t num_ranks);

/// What is done before MPI_Abort of a traced program; null for nothing.
void at_abort(void (*act)() noexcept) noexcept;

/// Payload of one element, as the MPI library says.
[[nodiscard]] inline std::uint64_t size_of(MPI_Datatype type) noexcept {
  MPI_Count bytes = 0;
  mpi().Type_size_x(type, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

// The meanings of the table's rows for single messages and requests.
namespace record {

void sent(int dest, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept;
void will_send(const MPI_Request* request, int dest, MPI_Count count, MPI_Datatype type,
               MPI_Comm comm) noexcept;
void started(int num_requests, const MPI_Request* requests) noexcept;

// One-sided calls, by the direction in which the data go: from this rank to the target of a window,
// or from the target to this rank.
void put(int target, MPI_Count count, MPI_Datatype type, MPI_Win win) noexcept;
void fetched(int target, MPI_Count count, MPI_Datatype type, MPI_Win win) noexcept;
/// Both directions: the operand, which no target gets with MPI_NO_OP, and what was there before.
void fetched_and_put(int target, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Count fetched_count, MPI_Datatype fetched_type, MPI_Win win) noexcept;
/// The same for one element, which is compared with what is there.
void swapped(int target, MPI_Datatype type, MPI_Win win) noexcept;

/// The program is about to end by MPI_Abort: calls what `at_abort` was given.
void aborting() noexcept;

// What has messages that no traced call shows.
void shared_memory(MPI_Comm comm) noexcept;
void spawned(int root, MPI_Comm comm, const MPI_Comm* children) noexcept;

/// A communicator that is being released: its handle is removed from the table before the call, and
/// not added again until the call has ended. `end` is not a destructor: the call may be left by a
/// jump.
/// @tparam kEnd  ends it where it has begun
template <class Handle, void (*kEnd)(Handle) noexcept>
struct Release {
  Handle handle{};
  bool is_begun = false;
  void end() const noexcept {
    if (is_begun) kEnd(handle);
  }
};
using CommunicatorRelease = Release<MPI_Comm, &end_release>;
CommunicatorRelease forget_communicator(const MPI_Comm* comm) noexcept;

/// The same for a window.
using WindowRelease = Release<MPI_Win, &end_window_release>;
WindowRelease forget_window(const MPI_Win* win) noexcept;

/// Nothing uses a persistent request while it is released, so it is removed before.
struct RequestRelease {
  void end() const noexcept {}
};
RequestRelease forget_request(const MPI_Request* request) noexcept;

}  // namespace record

namespace detail {
void add_exchange(Counters& counters, const Communicator& communicator, int peer,
                  std::uint64_t bytes) noexcept;
void add_communicator(Counters& counters, const Communicator& communicator);
void remember(MPI_Request request, PersistentRequest meaning);
}  // namespace detail

/// Counts one collective call. Not inlined: the frame of a wrapper holds nothing to clean up.
/// `meaning` maps a `Collective` to the bytes handed in.
template <class Meaning>
[[gnu::noinline]] void record_collective(Call call, MPI_Comm comm, double duration_s,
                                         Meaning meaning) noexcept try {
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return;
  const Communicator& communicator = thread->communicator(comm);
  const auto emit = [thread, &communicator](int peer, std::uint64_t bytes) {
    detail::add_exchange(thread->counters, communicator, peer, bytes);
  };
  const Collective collective(communicator, &size_of, emit);
  const std::uint64_t bytes = meaning(collective);
  const bool is_first = thread->counters.collectives.add({.call = call,
                                                          .root = collective.root(),
                                                          .communicator_size = communicator.size,
                                                          .communicator = communicator.id,
                                                          .message_bytes = bytes,
                                                          .calls = 1,
                                                          .seconds = duration_s});
  if (is_first) detail::add_communicator(thread->counters, communicator);
} catch (const std::exception& error) {
  switch_off(error.what());
}

/// Stores what a persistent collective sends at each start.
template <class Meaning>
[[gnu::noinline]] void record_collective_init(Call call, MPI_Comm comm, const MPI_Request* request,
                                              Meaning meaning) noexcept try {
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return;
  const Communicator& communicator = thread->communicator(comm);
  PersistentRequest persistent;
  const auto emit = [&communicator, &persistent](int peer, std::uint64_t bytes) {
    const int world_rank = communicator.world_rank_of_peer[static_cast<std::size_t>(peer)];
    persistent.exchanged.push_back({world_rank, bytes});
  };
  const Collective collective(communicator, &size_of, emit);
  const std::uint64_t bytes = meaning(collective);
  persistent.collective = {.call = call,
                           .root = collective.root(),
                           .communicator_size = communicator.size,
                           .communicator = communicator.id,
                           .message_bytes = bytes,
                           .calls = 1};
  detail::add_communicator(thread->counters, communicator);
  detail::remember(*request, std::move(persistent));
} catch (const std::exception& error) {
  switch_off(error.what());
}

}  // namespace fairlead::intercept
