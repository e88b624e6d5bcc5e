// SPDX-License-Identifier: Apache-2.0
// Counters per thread; single messages and requests increase them.
#include "trace/recorder.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include "pmpi/simulated.hpp"
#include "trace/call_time.hpp"

namespace fairlead::intercept {

std::atomic<bool> recording{false};

namespace {

constexpr std::chrono::seconds kLongestGrowth{1};

// `records`, `idle` and what grows in the counters are protected by `lock`; a record belongs to one
// thread until it is idle.
struct Registry {
  std::timed_mutex lock;
  std::size_t num_ranks = 0;
  std::vector<std::unique_ptr<ThreadRecord>> records;
  std::vector<ThreadRecord*> idle;
  PersistentRequests requests;
};

// Never destroyed: threads may still trace while static objects are torn down.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

constinit thread_local ThreadRecord* current_record = nullptr;
constinit std::atomic<void (*)() noexcept> act_at_abort = nullptr;

// Passes the record to a later thread, so that the records of short-lived threads do not pile up.
struct ReleaseAtThreadExit {
  ~ReleaseAtThreadExit() {
    const std::lock_guard guard(registry().lock);
    registry().idle.push_back(current_record);
    current_record = nullptr;
  }
};

ThreadRecord* adopt_record() {
  const std::lock_guard guard(registry().lock);
  if (registry().idle.empty()) {
    registry().records.push_back(std::make_unique<ThreadRecord>(registry().num_ranks));
    registry().idle.reserve(registry().records.size());
    return registry().records.back().get();
  }
  ThreadRecord* const record = registry().idle.back();
  registry().idle.pop_back();
  return record;
}

ThreadRecord* make_record() noexcept try {
  current_record = adopt_record();
  thread_local const ReleaseAtThreadExit release;
  (void)release;
  return current_record;
} catch (const std::exception& error) {
  switch_off(error.what());
  return nullptr;
}

// World rank of a destination; MPI_PROC_NULL is the caller's business.
int world_rank_of(const std::vector<int>& world_rank_of_peer, int peer) noexcept {
  const auto index = static_cast<std::size_t>(peer);
  return peer >= 0 && index < world_rank_of_peer.size() ? world_rank_of_peer[index] : kOutsideWorld;
}

int world_rank_of(const Communicator& communicator, int peer) noexcept {
  return world_rank_of(communicator.world_rank_of_peer, peer);
}

void add(std::vector<Tally>& tallies, Counters& counters, int world_rank,
         std::uint64_t bytes) noexcept {
  if (world_rank == kOutsideWorld) {
    counters.untranslated.add(bytes);
  } else {
    tallies[static_cast<std::size_t>(world_rank)].add(bytes);
  }
}

std::vector<Tally>& fetched_tallies(Counters& counters) {
  if (!counters.fetched.empty()) return counters.fetched;
  const std::lock_guard guard(registry().lock);
  return counters.fetched_tallies();
}

enum class Direction { to_target, from_target };

// An empty transfer sends nothing, unlike an empty message; its type may be invalid.
void transfer(Direction direction, int target, MPI_Count count, MPI_Datatype type, MPI_Win win) {
  if (target == MPI_PROC_NULL || count == 0) return;
  ThreadRecord* const thread = this_thread();
  const std::uint64_t bytes = payload_bytes(count, size_of(type));
  if (thread == nullptr || bytes == 0) return;
  Counters& counters = thread->counters;
  publish(counters.one_sided_calls, counters.one_sided_calls + 1);
  const int world_rank = world_rank_of(thread->window(win).world_rank_of_target, target);
  add(direction == Direction::to_target ? counters.sent : fetched_tallies(counters), counters,
      world_rank, bytes);
}

}  // namespace

void switch_off(const char* reason) noexcept {
  if (recording.exchange(false)) {
    std::fprintf(stderr, "fairlead: tracing is switched off: %s\n", reason);
  }
}

ThreadRecord* this_thread() noexcept {
  if (current_record != nullptr) [[likely]]
    return current_record;
  return make_record();
}

void prepare_records(std::size_t num_ranks) {
  const std::lock_guard guard(registry().lock);
  registry().num_ranks = num_ranks;
}

std::optional<Counters> sum_of_records(std::size_t num_ranks) {
  std::optional<Counters> sum(num_ranks);
  const std::unique_lock guard(registry().lock, kLongestGrowth);
  if (!guard.owns_lock()) return std::nullopt;
  for (const std::unique_ptr<ThreadRecord>& record : registry().records) {
    sum->add(record->counters, ticks());
  }
  return sum;
}

void at_abort(void (*act)() noexcept) noexcept {
  act_at_abort.store(act);
}

namespace record {

void aborting() noexcept {
  if (const auto act = act_at_abort.load()) act();
}

void sent(int dest, MPI_Count count, MPI_Datatype type, MPI_Comm comm) noexcept try {
  if (dest == MPI_PROC_NULL) return;
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return;
  const int world_rank = world_rank_of(thread->communicator(comm), dest);
  add(thread->counters.sent, thread->counters, world_rank, payload_bytes(count, size_of(type)));
} catch (const std::exception& error) {
  switch_off(error.what());
}

void will_send(const MPI_Request* request, int dest, MPI_Count count, MPI_Datatype type,
               MPI_Comm comm) noexcept try {
  if (dest == MPI_PROC_NULL) return;
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return;
  const int world_rank = world_rank_of(thread->communicator(comm), dest);
  PersistentRequest meaning;
  meaning.sent.push_back({world_rank, payload_bytes(count, size_of(type))});
  detail::remember(*request, std::move(meaning));
} catch (const std::exception& error) {
  switch_off(error.what());
}

void started(int num_requests, const MPI_Request* requests) noexcept {
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return;
  Counters& counters = thread->counters;
  for (int index = 0; index < num_requests; ++index) {
    const PersistentRequest* const meaning = registry().requests.find(requests[index]);
    if (meaning == nullptr) continue;
    for (const auto& part : meaning->sent)
      add(counters.sent, counters, part.world_rank, part.bytes);
    for (const auto& part : meaning->exchanged) {
      add(counters.exchanged, counters, part.world_rank, part.bytes);
    }
    counters.collectives.add(meaning->collective);
  }
}

void put(int target, MPI_Count count, MPI_Datatype type, MPI_Win win) noexcept try {
  transfer(Direction::to_target, target, count, type, win);
} catch (const std::exception& error) {
  switch_off(error.what());
}

void fetched(int target, MPI_Count count, MPI_Datatype type, MPI_Win win) noexcept try {
  transfer(Direction::from_target, target, count, type, win);
} catch (const std::exception& error) {
  switch_off(error.what());
}

// With MPI_NO_OP the operand is ignored, and its type may be none (MPI 4.0, section 12.3.4).
void fetched_and_put(int target, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Count fetched_count, MPI_Datatype fetched_type, MPI_Win win) noexcept {
  if (op != op_no_op()) put(target, count, type, win);
  fetched(target, fetched_count, fetched_type, win);
}

void swapped(int target, MPI_Datatype type, MPI_Win win) noexcept {
  put(target, 1, type, win);
  fetched(target, 1, type, win);
}

// Counted by one rank of each window that has several.
void shared_memory(MPI_Comm comm) noexcept try {
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return;
  const Communicator& communicator = thread->communicator(comm);
  std::uint64_t& windows = thread->counters.shared_windows;
  if (communicator.rank == 0 && communicator.size > 1) publish(windows, windows + 1);
} catch (const std::exception& error) {
  switch_off(error.what());
}

// Counted by the root of the call.
void spawned(int root, MPI_Comm comm, const MPI_Comm* children) noexcept try {
  if constexpr (kIsSimulated) return;
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr || thread->communicator(comm).rank != root) return;
  int num_children = 0;
  mpi().Comm_remote_size(*children, &num_children);
  std::uint64_t& processes = thread->counters.spawned_processes;
  publish(processes, processes + static_cast<std::uint64_t>(num_children));
} catch (const std::exception& error) {
  switch_off(error.what());
}

// The MPI refuses a null pointer.
CommunicatorRelease forget_communicator(const MPI_Comm* comm) noexcept try {
  if (comm == nullptr) return {};
  begin_release(*comm);
  return {.handle = *comm, .is_begun = true};
} catch (const std::exception& error) {
  switch_off(error.what());
  return {};
}

WindowRelease forget_window(const MPI_Win* win) noexcept try {
  if (win == nullptr) return {};
  begin_window_release(*win);
  return {.handle = *win, .is_begun = true};
} catch (const std::exception& error) {
  switch_off(error.what());
  return {};
}

RequestRelease forget_request(const MPI_Request* request) noexcept {
  if (request != nullptr) registry().requests.erase(*request);
  return {};
}

}  // namespace record

namespace detail {

void add_exchange(Counters& counters, const Communicator& communicator, int peer,
                  std::uint64_t bytes) noexcept {
  add(counters.exchanged, counters, world_rank_of(communicator, peer), bytes);
}

void add_communicator(Counters& counters, const Communicator& communicator) {
  const std::lock_guard guard(registry().lock);
  counters.communicators.add(communicator);
}

void remember(MPI_Request request, PersistentRequest meaning) {
  registry().requests.insert(request, std::move(meaning));
}

}  // namespace detail
}  // namespace fairlead::intercept
