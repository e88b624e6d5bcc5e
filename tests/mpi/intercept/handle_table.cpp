// SPDX-License-Identifier: Apache-2.0
// The table of handles, alone and used by several threads at once (also under the thread
// sanitizer).
#include "handles/handle_table.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../../core/catch.hpp"

using fairlead::intercept::HandleTable;

namespace {

// Handles of one MPI are addresses, those of the other integers.
using Address = struct Opaque*;

template <class Handle>
Handle handle(std::uintptr_t index) {
  return (Handle)(16 * index);
}

template <class Handle>
void check_growth() {
  HandleTable<Handle, std::string> table;
  constexpr std::uintptr_t kHandles = 1000;
  for (std::uintptr_t index = 2; index < kHandles; ++index) {
    table.insert(handle<Handle>(index), std::to_string(index));
  }
  CHECK(table.erase(handle<Handle>(7)));
  CHECK(!table.erase(handle<Handle>(7)));
  CHECK(table.find(handle<Handle>(7)) == nullptr);
  CHECK(table.find(handle<Handle>(kHandles)) == nullptr);
  for (std::uintptr_t index = 8; index < kHandles; ++index) {
    const std::string* const found = table.find(handle<Handle>(index));
    REQUIRE(found != nullptr);
    CHECK(*found == std::to_string(index));
  }
}

}  // namespace

TEST_CASE("handles: found through growth, gone after their release") {
  check_growth<Address>();
  check_growth<int>();
}

TEST_CASE("handles: one that comes back has its new value") {
  HandleTable<Address, int> table;
  table.insert(handle<Address>(3), 1);
  table.insert(handle<Address>(3), 2);
  CHECK(*table.find(handle<Address>(3)) == 2);
  table.erase(handle<Address>(3));
  table.insert(handle<Address>(3), 4);
  CHECK(*table.find(handle<Address>(3)) == 4);
}

TEST_CASE("handles: each of eight threads finds its own while all insert and erase") {
  constexpr std::uintptr_t kThreads = 8;
  constexpr std::uintptr_t kRounds = 2000;
  HandleTable<Address, std::uintptr_t> table;
  std::atomic<int> num_wrong{0};
  const auto work = [&](std::uintptr_t thread) {
    for (std::uintptr_t round = 0; round < kRounds; ++round) {
      const auto own = handle<Address>(1 + thread + kThreads * (round % 100));
      table.insert(own, round);
      const std::uintptr_t* const found = table.find(own);
      if (found == nullptr || *found != round || !table.erase(own)) ++num_wrong;
    }
  };
  std::vector<std::thread> threads;
  for (std::uintptr_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();

  CHECK(num_wrong == 0);
}
