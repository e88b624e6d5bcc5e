// SPDX-License-Identifier: Apache-2.0
// The counts of one thread: messages per destination, and collective calls per kind.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "handles/communicator.hpp"
#include "table/call_names.hpp"

namespace fairlead::intercept {

/// Messages from this rank to one other.
struct Tally {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;

  void add(std::uint64_t message_bytes) {
    ++messages;
    bytes += message_bytes;
    max_bytes = std::max(max_bytes, message_bytes);
  }

  void add(const Tally& other) {
    messages += other.messages;
    bytes += other.bytes;
    max_bytes = std::max(max_bytes, other.max_bytes);
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

  /// Calls for which there was no place left.
  [[nodiscard]] std::uint64_t num_dropped() const { return num_dropped_; }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const CollectiveTally& entry : entries_) {
      if (entry.calls > 0) visit(entry);
    }
  }

 private:
  CollectiveTally* find(const CollectiveTally& kind, bool may_insert);

  std::array<CollectiveTally, kCapacity> entries_{};
  std::size_t num_used_ = 0;
  std::uint64_t num_dropped_ = 0;
};

/// The ranks of communicators, each told by its first rank only: together the ranks of a program
/// tell each once. Never holds more than `kMostMembers`.
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

/// All counts of one thread. Written by its thread only; read in MPI_Finalize, when no thread of a
/// correct program is in MPI any more.
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

  /// `fetched`, with its room: few programs need it.
  std::vector<Tally>& fetched_tallies() {
    if (fetched.empty()) fetched.resize(sent.size());
    return fetched;
  }

  void add(const Counters& other);
};

}  // namespace fairlead::intercept
