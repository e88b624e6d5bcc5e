// SPDX-License-Identifier: Apache-2.0
// A mutex that a thread which probes again and again leaves to those that wait for it.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace fairlead::intercept::relay {

/// While a thread probes, it holds the mutex, and some MPIs yield the processor there. It would
/// have a std::mutex back before a waiting thread has woken up, so that a receive of that thread
/// might not begin for minutes. Strictly in turn would be no better: each receive would wait until
/// the thread that probes has woken up.
class ProbedMutex {
 public:
  ProbedMutex() = default;
  ProbedMutex(const ProbedMutex&) = delete;
  ProbedMutex& operator=(const ProbedMutex&) = delete;

  void lock() {
    if (mutex_.try_lock()) return;
    num_waiting_.fetch_add(1);
    mutex_.lock();
    num_waiting_.fetch_sub(1);
  }
  /// For a probe: after those that wait already.
  void lock_after_others() {
    while (num_waiting_.load() > 0) std::this_thread::yield();
    lock();
  }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::atomic<int> num_waiting_{0};
};

/// Holds it for a probe.
class ProbeGuard {
 public:
  explicit ProbeGuard(ProbedMutex& mutex) : mutex_(mutex) { mutex_.lock_after_others(); }
  ProbeGuard(const ProbeGuard&) = delete;
  ProbeGuard& operator=(const ProbeGuard&) = delete;
  ~ProbeGuard() { mutex_.unlock(); }

 private:
  ProbedMutex& mutex_;
};

}  // namespace fairlead::intercept::relay
