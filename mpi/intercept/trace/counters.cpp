// SPDX-License-Identifier: Apache-2.0
// The table of collective calls, and adding up the counters of several threads.
#include "trace/counters.hpp"

namespace fairlead::intercept {
namespace {

// Mixes the key as boost::hash_combine does; the low bits choose the place.
std::size_t hash_of(Call call, int communicator_size, std::uint64_t message_bytes) {
  std::uint64_t hash = static_cast<std::uint64_t>(call);
  for (const std::uint64_t part : {static_cast<std::uint64_t>(communicator_size), message_bytes}) {
    hash ^= part + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
  }
  return static_cast<std::size_t>((hash * 0xff51afd7ed558ccdU) >> 32);
}

}  // namespace

CollectiveTally* CollectiveTable::find(Call call, int communicator_size,
                                       std::uint64_t message_bytes, bool may_insert) {
  std::size_t index = hash_of(call, communicator_size, message_bytes) % kCapacity;
  for (std::size_t probed = 0; probed < kCapacity; ++probed) {
    CollectiveTally& entry = entries_[index];
    if (entry.calls == 0) {
      if (!may_insert) return nullptr;
      entry = {
          .call = call, .communicator_size = communicator_size, .message_bytes = message_bytes};
      ++num_used_;
      return &entry;
    }
    if (entry.call == call && entry.communicator_size == communicator_size &&
        entry.message_bytes == message_bytes) {
      return &entry;
    }
    index = (index + 1) % kCapacity;
  }
  return nullptr;
}

void CollectiveTable::add(const CollectiveTally& added) {
  if (added.calls == 0) return;
  CollectiveTally* entry =
      find(added.call, added.communicator_size, added.message_bytes, num_used_ < kExact);
  if (entry == nullptr && added.message_bytes <= std::uint64_t{1} << 63) {
    entry = find(added.call, added.communicator_size, std::bit_ceil(added.message_bytes),
                 num_used_ < kCapacity);
  }
  if (entry == nullptr) {
    num_dropped_ += added.calls;
    return;
  }
  entry->calls += added.calls;
  entry->seconds += added.seconds;
}

void Counters::add(const Counters& other) {
  for (std::size_t rank = 0; rank < sent.size(); ++rank) {
    sent[rank].add(other.sent[rank]);
    exchanged[rank].add(other.exchanged[rank]);
  }
  untranslated.add(other.untranslated);
  other.collectives.for_each([this](const CollectiveTally& entry) { collectives.add(entry); });
}

}  // namespace fairlead::intercept
