// SPDX-License-Identifier: Apache-2.0
// Threads of a program pass messages to the messenger without a lock.
#include "endpoint/submissions.hpp"

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace fairlead::relay;

TEST_CASE("submissions: none is lost, and those of a thread stay in order") {
  constexpr std::uint64_t kCount = 20000;
  constexpr std::uint32_t kThreads = 3;
  Submissions submissions;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&submissions, thread] {
      for (std::uint64_t number = 1; number <= kCount; ++number) {
        submissions.add({.send = {.dst_rank = thread, .number = number}});
      }
    });
  }

  std::array<std::uint64_t, kThreads> last{};
  bool is_in_order = true;
  for (std::uint64_t num_taken = 0; num_taken < kThreads * kCount;) {
    for (const Submission& each : submissions.take_all()) {
      is_in_order &= each.send.number == ++last[each.send.dst_rank];
      ++num_taken;
    }
  }
  for (std::thread& thread : threads) thread.join();

  CHECK(is_in_order);
  CHECK(submissions.take_all().empty());
}
