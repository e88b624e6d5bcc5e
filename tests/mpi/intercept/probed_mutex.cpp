// SPDX-License-Identifier: Apache-2.0
// A thread that probes again and again keeps no other from the mutex.
#include "relay/probed_mutex.hpp"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../../core/catch.hpp"

namespace {

using fairlead::intercept::relay::ProbedMutex;
using fairlead::intercept::relay::ProbeGuard;

/// As the kernel reports it (proc(5), "stat"): the state follows the name of the program.
char state_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  return line.at(line.rfind(')') + 2);
}

void wait_until_asleep(const std::atomic<pid_t>& thread) {
  while (thread == 0 || state_of(thread) != 'S') std::this_thread::yield();
}

}  // namespace

TEST_CASE("probed mutex: a thread that waits has it before the next probe") {
  ProbedMutex mutex;
  std::vector<int> owners;
  std::atomic<pid_t> waiting = 0;
  mutex.lock_after_others();
  std::thread other([&] {
    waiting = gettid();
    const std::lock_guard guard(mutex);
    owners.push_back(1);
  });
  wait_until_asleep(waiting);

  mutex.unlock();
  {
    const ProbeGuard guard(mutex);
    owners.push_back(0);
  }

  other.join();
  CHECK(owners == std::vector{1, 0});
}

TEST_CASE("probed mutex: one thread at a time has it") {
  constexpr int kTimes = 20'000;
  ProbedMutex mutex;
  int count = 0;
  const auto add = [&] {
    for (int time = 0; time < kTimes; ++time) {
      const std::lock_guard guard(mutex);
      ++count;
    }
  };
  const auto probe = [&] {
    for (int time = 0; time < kTimes; ++time) {
      const ProbeGuard guard(mutex);
      ++count;
    }
  };

  std::vector<std::thread> threads;
  for (int index = 0; index < 2; ++index) threads.emplace_back(add);
  for (int index = 0; index < 2; ++index) threads.emplace_back(probe);
  for (std::thread& thread : threads) thread.join();

  CHECK(count == 4 * kTimes);
}
