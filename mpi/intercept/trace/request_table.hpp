// SPDX-License-Identifier: Apache-2.0
// What each persistent request will send whenever it is started.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "trace/counters.hpp"

namespace fairlead::intercept {

/// The messages and the collective call that one start of a request stands for.
struct PersistentRequest {
  struct Part {
    int world_rank;
    std::uint64_t bytes;
  };
  std::vector<Part> sent;
  std::vector<Part> exchanged;
  CollectiveTally collective;  // calls == 0 for point-to-point requests
};

/// Requests by handle. Lookups take no lock, as MPI_Start is on the hot path; changes do.
/// A lookup that races with the release of its own handle is an error of the program.
class RequestTable {
 public:
  RequestTable();

  void insert(MPI_Request request, std::unique_ptr<const PersistentRequest> meaning);
  [[nodiscard]] const PersistentRequest* find(MPI_Request request) const noexcept;
  void erase(MPI_Request request) noexcept;

 private:
  // `meaning` is written before `key` is published, and never while a reader may match the key.
  struct Entry {
    std::atomic<std::uintptr_t> key{0};
    std::unique_ptr<const PersistentRequest> meaning;
  };
  struct Table {
    explicit Table(std::size_t capacity) : entries(capacity) {}
    std::vector<Entry> entries;
    std::size_t num_used = 0;  // including entries of requests that are gone; under `lock_`
  };

  static Entry* locate(Table& table, std::uintptr_t key) noexcept;
  static void place(Table& table, std::uintptr_t key,
                    std::unique_ptr<const PersistentRequest> meaning);
  void grow();

  std::mutex lock_;
  std::atomic<Table*> current_;
  // Readers may still be in an older table, so all are kept; together they are twice the newest.
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace fairlead::intercept
