// SPDX-License-Identifier: Apache-2.0
// Data of each handle: a hash table with lock-free lookup and locked changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace fairlead::intercept {

/// Values by handle. Lookups take no lock, as they are on the hot path; changes do.
/// A lookup that races with the release of its own handle is an error of the program.
template <class Handle, class Value>
class HandleTable {
 public:
  HandleTable() {
    tables_.push_back(std::make_unique<Table>(kFirstCapacity));
    current_.store(tables_.back().get(), std::memory_order_release);
  }

  /// Replaces a value that the handle already has.
  void insert(Handle handle, Value value) {
    auto kept = std::make_unique<const Value>(std::move(value));
    const std::lock_guard guard(lock_);
    if (Entry* const stale = locate(*tables_.back(), key_of(handle))) {
      stale->value = std::move(kept);
      return;
    }
    if (2 * (tables_.back()->num_used + 1) > tables_.back()->entries.size()) grow();
    place(*tables_.back(), key_of(handle), std::move(kept));
  }

  /// The value, until the handle is erased; or null.
  [[nodiscard]] const Value* find(Handle handle) const noexcept {
    const Entry* const entry = locate(*current_.load(std::memory_order_acquire), key_of(handle));
    return entry == nullptr ? nullptr : entry->value.get();
  }

  /// Whether there was a value.
  bool erase(Handle handle) noexcept {
    if (find(handle) == nullptr) return false;
    const std::lock_guard guard(lock_);
    Entry* const entry = locate(*tables_.back(), key_of(handle));
    if (entry == nullptr) return false;
    entry->key.store(kGone, std::memory_order_release);
    entry->value.reset();
    return true;
  }

 private:
  static constexpr std::uintptr_t kEmpty = 0;
  static constexpr std::uintptr_t kGone = 1;
  static constexpr std::size_t kFirstCapacity = 64;

  // `value` is written before `key` is published, and never while a reader may match the key.
  struct Entry {
    std::atomic<std::uintptr_t> key{kEmpty};
    std::unique_ptr<const Value> value;
  };
  struct Table {
    explicit Table(std::size_t capacity) : entries(capacity) {}
    std::vector<Entry> entries;
    std::size_t num_used = 0;  // including entries of handles that are gone; under `lock_`
  };

  // Handles are addresses in Open MPI and integers in MPICH, hence the cast that takes both;
  // neither uses 0 or 1 for one that can be released.
  static std::uintptr_t key_of(Handle handle) noexcept { return (std::uintptr_t)handle; }

  static std::size_t first_index(std::uintptr_t key, std::size_t capacity) noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32) % capacity;
  }

  static Entry* locate(Table& table, std::uintptr_t key) noexcept {
    // A table is never more than half used, so an empty entry ends the search.
    const std::size_t capacity = table.entries.size();
    for (std::size_t index = first_index(key, capacity);; index = (index + 1) % capacity) {
      const std::uintptr_t found = table.entries[index].key.load(std::memory_order_acquire);
      if (found == key) return &table.entries[index];
      if (found == kEmpty) return nullptr;
    }
  }

  static void place(Table& table, std::uintptr_t key, std::unique_ptr<const Value> value) {
    const std::size_t capacity = table.entries.size();
    std::size_t index = first_index(key, capacity);
    while (table.entries[index].key.load(std::memory_order_relaxed) > kGone) {
      index = (index + 1) % capacity;
    }
    Entry& entry = table.entries[index];
    if (entry.key.load(std::memory_order_relaxed) == kEmpty) ++table.num_used;
    entry.value = std::move(value);
    entry.key.store(key, std::memory_order_release);
  }

  void grow() {
    Table& old = *tables_.back();
    auto larger = std::make_unique<Table>(2 * old.entries.size());
    for (const Entry& entry : old.entries) {
      const std::uintptr_t key = entry.key.load(std::memory_order_relaxed);
      if (key > kGone) place(*larger, key, std::make_unique<const Value>(*entry.value));
    }
    tables_.push_back(std::move(larger));
    current_.store(tables_.back().get(), std::memory_order_release);
  }

  std::mutex lock_;
  std::atomic<Table*> current_;
  // Readers may still be in an older table, so all are kept; together they are twice the newest.
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace fairlead::intercept
