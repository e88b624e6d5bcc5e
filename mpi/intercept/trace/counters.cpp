// SPDX-License-Identifier: Apache-2.0
// The table of collective calls, and adding up the counters of several threads.
#include "trace/counters.hpp"

namespace fairlead::intercept {
namespace {

// Mixes the key as boost::hash_combine does; the low bits choose the place.
std::size_t hash_of(const CollectiveTally& kind) {
  std::uint64_t hash = static_cast<std::uint64_t>(kind.call);
  for (const std::uint64_t part :
       {kind.communicator, static_cast<std::uint64_t>(kind.communicator_size),
        static_cast<std::uint64_t>(kind.root), kind.message_bytes}) {
    hash ^= part + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
  }
  return static_cast<std::size_t>((hash * 0xff51afd7ed558ccdU) >> 32);
}

bool is_same_kind(const CollectiveTally& a, const CollectiveTally& b) {
  return a.call == b.call && a.root == b.root && a.communicator == b.communicator &&
         a.communicator_size == b.communicator_size && a.message_bytes == b.message_bytes;
}

// What is left of a kind in a crowded table.
CollectiveTally coarsened(CollectiveTally kind) {
  constexpr std::uint64_t kLargestPower = std::uint64_t{1} << 63;
  if (kind.message_bytes <= kLargestPower) kind.message_bytes = std::bit_ceil(kind.message_bytes);
  if (kind.root != kNoRoot) kind.root = kSeveralRoots;
  return kind;
}

}  // namespace

CollectiveTally* CollectiveTable::find(const CollectiveTally& kind, bool may_insert) {
  std::size_t index = hash_of(kind) % kCapacity;
  for (std::size_t probed = 0; probed < kCapacity; ++probed) {
    CollectiveTally& entry = entries_[index];
    if (entry.calls == 0) {
      if (!may_insert) return nullptr;
      // Not as a whole: its calls may be read meanwhile, and are 0 until the kind is there.
      entry.call = kind.call;
      entry.root = kind.root;
      entry.communicator_size = kind.communicator_size;
      entry.communicator = kind.communicator;
      entry.message_bytes = kind.message_bytes;
      ++num_used_;
      return &entry;
    }
    if (is_same_kind(entry, kind)) return &entry;
    index = (index + 1) % kCapacity;
  }
  return nullptr;
}

bool CollectiveTable::add(const CollectiveTally& added) {
  if (added.calls == 0) return false;
  CollectiveTally* entry = find(added, num_used_ < kExact);
  if (entry == nullptr) entry = find(coarsened(added), num_used_ < kCapacity);
  if (entry == nullptr) {
    publish(num_dropped_, num_dropped_ + added.calls);
    return false;
  }
  const bool is_first = entry->calls == 0;
  publish(entry->seconds, entry->seconds + added.seconds);
  publish(entry->calls, entry->calls + added.calls);
  return is_first;
}

void CollectiveTable::add(const CollectiveTable& other) {
  other.for_each([this](const CollectiveTally& entry) { add(entry); });
  publish(num_dropped_, num_dropped_ + other.num_dropped());
}

void CommunicatorMembers::add(const Communicator& communicator) {
  if (communicator.rank == 0 && communicator.id != 0) {
    add(communicator.id, communicator.world_rank_of_peer);
  }
}

void CommunicatorMembers::add(const CommunicatorMembers& other) {
  for (const auto& [id, members] : other.members_of_id_) add(id, members);
}

void CommunicatorMembers::add(std::uint64_t id, const std::vector<int>& members) {
  if (num_members_ + members.size() > kMostMembers) return;
  if (members_of_id_.try_emplace(id, members).second) num_members_ += members.size();
}

void Counters::add(const Counters& other, std::uint64_t now_ticks) {
  for (std::size_t rank = 0; rank < sent.size(); ++rank) {
    sent[rank].add(other.sent[rank]);
    exchanged[rank].add(other.exchanged[rank]);
  }
  if (fetched.size() < other.fetched.size()) fetched.resize(other.fetched.size());
  for (std::size_t rank = 0; rank < other.fetched.size(); ++rank) {
    fetched[rank].add(other.fetched[rank]);
  }
  shared_windows += observed(other.shared_windows);
  spawned_processes += observed(other.spawned_processes);
  call_ticks += other.call_time.ticks_until(now_ticks);
  if (other.call_time.has_called()) ++calling_threads;
  one_sided_calls += observed(other.one_sided_calls);
  untranslated.add(other.untranslated);
  collectives.add(other.collectives);
  communicators.add(other.communicators);
}

}  // namespace fairlead::intercept
