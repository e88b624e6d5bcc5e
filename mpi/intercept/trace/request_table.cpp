// SPDX-License-Identifier: Apache-2.0
// A hash table of request handles with lock-free lookup and locked changes.
#include "trace/request_table.hpp"

namespace fairlead::intercept {
namespace {

constexpr std::uintptr_t kEmpty = 0;
constexpr std::uintptr_t kGone = 1;
constexpr std::size_t kFirstCapacity = 64;

// Handles are addresses in Open MPI and integers in MPICH, hence the cast that takes both; neither
// uses 0 or 1 for a request.
std::uintptr_t key_of(MPI_Request request) noexcept {
  return (std::uintptr_t)request;
}

std::size_t first_index(std::uintptr_t key, std::size_t capacity) noexcept {
  return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32) % capacity;
}

}  // namespace

RequestTable::RequestTable() {
  tables_.push_back(std::make_unique<Table>(kFirstCapacity));
  current_.store(tables_.back().get(), std::memory_order_release);
}

RequestTable::Entry* RequestTable::locate(Table& table, std::uintptr_t key) noexcept {
  // A table is never more than half used, so an empty entry ends the search.
  const std::size_t capacity = table.entries.size();
  for (std::size_t index = first_index(key, capacity);; index = (index + 1) % capacity) {
    const std::uintptr_t found = table.entries[index].key.load(std::memory_order_acquire);
    if (found == key) return &table.entries[index];
    if (found == kEmpty) return nullptr;
  }
}

void RequestTable::place(Table& table, std::uintptr_t key,
                         std::unique_ptr<const PersistentRequest> meaning) {
  const std::size_t capacity = table.entries.size();
  std::size_t index = first_index(key, capacity);
  while (table.entries[index].key.load(std::memory_order_relaxed) > kGone) {
    index = (index + 1) % capacity;
  }
  Entry& entry = table.entries[index];
  if (entry.key.load(std::memory_order_relaxed) == kEmpty) ++table.num_used;
  entry.meaning = std::move(meaning);
  entry.key.store(key, std::memory_order_release);
}

void RequestTable::grow() {
  Table& old = *tables_.back();
  auto larger = std::make_unique<Table>(2 * old.entries.size());
  for (Entry& entry : old.entries) {
    const std::uintptr_t key = entry.key.load(std::memory_order_relaxed);
    if (key > kGone) place(*larger, key, std::make_unique<const PersistentRequest>(*entry.meaning));
  }
  tables_.push_back(std::move(larger));
  current_.store(tables_.back().get(), std::memory_order_release);
}

void RequestTable::insert(MPI_Request request, std::unique_ptr<const PersistentRequest> meaning) {
  const std::lock_guard guard(lock_);
  if (Entry* const stale = locate(*tables_.back(), key_of(request))) {
    stale->meaning = std::move(meaning);
    return;
  }
  if (2 * (tables_.back()->num_used + 1) > tables_.back()->entries.size()) grow();
  place(*tables_.back(), key_of(request), std::move(meaning));
}

const PersistentRequest* RequestTable::find(MPI_Request request) const noexcept {
  const Entry* const entry = locate(*current_.load(std::memory_order_acquire), key_of(request));
  return entry == nullptr ? nullptr : entry->meaning.get();
}

void RequestTable::erase(MPI_Request request) noexcept {
  if (find(request) == nullptr) return;
  const std::lock_guard guard(lock_);
  if (Entry* const entry = locate(*tables_.back(), key_of(request))) {
    entry->key.store(kGone, std::memory_order_release);
    entry->meaning.reset();
  }
}

}  // namespace fairlead::intercept
