// SPDX-License-Identifier: Apache-2.0
// The counts of one thread: messages per destination, and collective calls per kind. Only that
// thread writes them. Another one may read what has a fixed place at any time, and finds counts of
// a moment ago: no count without its largest message, no collective without its kind.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "handles/communicator.hpp"
#include "table/call_names.hpp"

namespace fairlead::intercept {

/// Writes a count that other threads may read; its own thread needs no atomic read. On
/// x86-64 the compiler makes a plain store of it.
template <class Number>
void publish(Number& count, Number value) {
  std::atomic_ref(count).store(value, std::memory_order_release);
}

/// Reads a count that its thread may be writing.
template <class Number>
[[nodiscard]] Number observed(const Number& count) {
  // atomic_ref takes no const object before C++26; loading does not write.
  return std::atomic_ref(const_cast<Number&>(count)).load(std::memory_order_acquire);
}

/// What one thread spends inside of calls. Another thread reads one word, in which a call that ends
/// meanwhile is either still under way or in the sum: of two words it could see the call in both.
class CallTime {
 public:
  /// A call that has not ended, as one that was left by a jump, is forgotten.
  void begin(std::uint64_t now_ticks) {
    begun_ticks_ = even(now_ticks);
    publish(word_, (ended_ticks_ - begun_ticks_) | kInCall);
  }
  void end(std::uint64_t now_ticks) {
    ended_ticks_ += even(now_ticks) - begun_ticks_;
    publish(word_, ended_ticks_);
  }

  [[nodiscard]] bool is_in_call() const { return (observed(word_) & kInCall) != 0; }
  [[nodiscard]] bool has_called() const { return observed(word_) != 0; }
  /// In all calls, of one that is under way the part until now. To two ticks.
  [[nodiscard]] std::uint64_t ticks_until(std::uint64_t now_ticks) const {
    const std::uint64_t word = observed(word_);
    if ((word & kInCall) == 0) return word;
    const std::uint64_t sum = word - kInCall + even(now_ticks);
    // The first call may have begun after the clock was read.
    return sum > kLargestSum ? 0 : sum;
  }

 private:
  static constexpr std::uint64_t kInCall = 1;
  static constexpr std::uint64_t kLargestSum = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t even(std::uint64_t ticks) { return ticks & ~kInCall; }

  std::uint64_t ended_ticks_ = 0;
  std::uint64_t begun_ticks_ = 0;
  /// The sum of the calls that have ended; while one is under way less its begin, modulo 2^64, and
  /// the mark of it. The others are of the thread alone.
  std::uint64_t word_ = 0;
};

/// Messages from this rank to one other.
struct Tally {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;

  // Read in the opposite order: who sees a largest message sees its bytes, and that it was sent.
  void add(std::uint64_t message_bytes) {
    publish(messages, messages + 1);
    publish(bytes, bytes + message_bytes);
    if (message_bytes > max_bytes) publish(max_bytes, message_bytes);
  }

  /// Adds what another thread may be writing.
  void add(const Tally& other) {
    max_bytes = std::max(max_bytes, observed(other.max_bytes));
    bytes += observed(other.bytes);
    messages += observed(other.messages);
  }
};

inline constexpr int kNoRoot = -1;
inline constexpr int kSeveralRoots = -2;

/// Calls of one collective on communicators of the same ranks with one root and one message size.
struct CollectiveTally {
  Call call{};
  /// In the communicator; or kNoRoot, kSeveralRoots.
  int root = kNoRoot;
  int communicator_size = 0;
  std::uint64_t communicator = 0;  // Communicator::id
  std::uint64_t message_bytes = 0;
  std::uint64_t calls = 0;
  double seconds = 0;
};

/// Collective calls by kind, in a table of fixed size (open addressing, never grows).
/// When it gets crowded, new kinds have a message size rounded up to a power of two, and no root.
class CollectiveTable {
 public:
  static constexpr std::size_t kCapacity = 1024;
  static constexpr std::size_t kExact = kCapacity / 2;

  /// Whether it is the first of its kind.
  bool add(const CollectiveTally& added);

  /// Adds the calls of another thread, those without a place included.
  void add(const CollectiveTable& other);

  /// Calls for which there was no place left.
  [[nodiscard]] std::uint64_t num_dropped() const { return observed(num_dropped_); }

  /// Visits copies; its thread may add calls meanwhile.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const CollectiveTally& entry : entries_) {
      // The kind was written before the first call, and never changes.
      const std::uint64_t calls = observed(entry.calls);
      if (calls == 0) continue;
      CollectiveTally copy;
      copy.call = entry.call;
      copy.root = entry.root;
      copy.communicator_size = entry.communicator_size;
      copy.communicator = entry.communicator;
      copy.message_bytes = entry.message_bytes;
      copy.calls = calls;
      copy.seconds = observed(entry.seconds);
      visit(copy);
    }
  }

 private:
  CollectiveTally* find(const CollectiveTally& kind, bool may_insert);

  std::array<CollectiveTally, kCapacity> entries_{};
  std::size_t num_used_ = 0;
  std::uint64_t num_dropped_ = 0;
};

/// The ranks of communicators, each recorded by its first rank only: together the ranks of a
/// program record each once. Never holds more than `kMostMembers`.
class CommunicatorMembers {
 public:
  static constexpr std::size_t kMostMembers = std::size_t{1} << 20;

  void add(const Communicator& communicator);
  void add(const CommunicatorMembers& other);

  /// World ranks by `Communicator::id`, in the order of the communicator.
  [[nodiscard]] const std::map<std::uint64_t, std::vector<int>>& members_of_id() const {
    return members_of_id_;
  }

 private:
  void add(std::uint64_t id, const std::vector<int>& members);

  std::map<std::uint64_t, std::vector<int>> members_of_id_;
  std::size_t num_members_ = 0;
};

/// All counts of one thread. Written by its thread only, and read while it counts; `fetched` and
/// `communicators` grow, so both change and are read under the lock of all records (recorder.cpp).
struct Counters {
  explicit Counters(std::size_t num_ranks) : sent(num_ranks), exchanged(num_ranks) {}

  std::vector<Tally> sent;       // of destination world rank
  std::vector<Tally> exchanged;  // of destination world rank
  std::vector<Tally> fetched;    // of source world rank, whose data this rank got; empty at first
  Tally untranslated;            // to and from processes outside MPI_COMM_WORLD
  CollectiveTable collectives;
  CommunicatorMembers communicators;    // on which there were collectives
  std::uint64_t shared_windows = 0;     // windows of memory that ranks share
  std::uint64_t spawned_processes = 0;  // by MPI_Comm_spawn and MPI_Comm_spawn_multiple
  CallTime call_time;                   // inside of calls that may wait (call_time.hpp)
  std::uint64_t call_ticks = 0;         // of a sum: the same of all threads
  std::uint64_t one_sided_calls = 0;    // what waits for these is not traced
  std::uint64_t calling_threads = 0;    // of a sum: threads that made calls

  /// `fetched`, with its room: few programs need it.
  std::vector<Tally>& fetched_tallies() {
    if (fetched.empty()) fetched.resize(sent.size());
    return fetched;
  }

  /// Adds the counts of another thread, which may go on counting.
  /// @param now_ticks  by which a call that it is in counts
  void add(const Counters& other, std::uint64_t now_ticks);
};

}  // namespace fairlead::intercept
