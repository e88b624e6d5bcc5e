// SPDX-License-Identifier: Apache-2.0
// Turns calls that succeeded into counts. Nothing here throws: after an error the tracer prints one
// line and switches itself off.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "handles/communicator.hpp"
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

/// One thread's counters, and the communicators it used last.
struct ThreadRecord {
  struct CachedCommunicator {
    MPI_Comm handle{};
    std::uint64_t generation = 0;
    std::shared_ptr<const Communicator> communicator;
  };

  explicit ThreadRecord(std::size_t num_ranks) : counters(num_ranks) {}

  [[nodiscard]] const Communicator& communicator(MPI_Comm comm) {
    CachedCommunicator& cached = cache[place_of(comm)];
    if (cached.handle != comm || cached.generation != communicator_generation()) [[unlikely]] {
      // The generation is read first: a handle that changes meanwhile is looked up again.
      const std::uint64_t generation = communicator_generation();
      FoundCommunicator found = find_communicator(comm);
      cached = {comm, found.is_lasting ? generation : 0, std::move(found.communicator)};
    }
    return *cached.communicator;
  }

  Counters counters;
  std::array<CachedCommunicator, 16> cache{};

 private:
  static std::size_t place_of(MPI_Comm comm) noexcept {
    // Handles of one kind differ in their low or, as addresses, in their middle bits.
    const auto bits = (std::uintptr_t)comm;
    return ((bits >> 8) ^ (bits >> 4) ^ bits) % 16;
  }
};

/// This thread's record, made at its first traced call; null when that fails.
[[nodiscard]] ThreadRecord* this_thread() noexcept;

/// Sets the number of ranks; before the first traced call.
void prepare_records(std::size_t num_ranks);

/// The counters of all threads, those that ended included.
[[nodiscard]] Counters sum_of_records(std::size_t num_ranks);

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

/// A communicator that is being released: its handle is removed from the table before the call, and
/// not added again until the call has ended. `end` is not a destructor: the call may be left by a
/// jump.
struct CommunicatorRelease {
  MPI_Comm comm;
  bool is_begun;
  void end() const noexcept;
};
CommunicatorRelease forget_communicator(const MPI_Comm* comm) noexcept;

/// Nothing uses a persistent request while it is released, so it is removed before.
struct RequestRelease {
  void end() const noexcept {}
};
RequestRelease forget_request(const MPI_Request* request) noexcept;

}  // namespace record

namespace detail {
void add_exchange(Counters& counters, const Communicator& communicator, int peer,
                  std::uint64_t bytes) noexcept;
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
  if (is_first) thread->counters.communicators.add(communicator);
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
  thread->counters.communicators.add(communicator);
  detail::remember(*request, std::move(persistent));
} catch (const std::exception& error) {
  switch_off(error.what());
}

}  // namespace fairlead::intercept
