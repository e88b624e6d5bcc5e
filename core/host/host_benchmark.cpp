// SPDX-License-Identifier: Apache-2.0
// Slices of one thread and of all, in turns: what disturbs the host for a moment disturbs each
// rate.
#include "fairlead/host/host_benchmark.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Values between two looks at the clock: some microseconds.
constexpr std::size_t kChunk = std::size_t{1} << 13;

}  // namespace

enum class HostBenchmark::Work : std::uint8_t { fill, multiply_adds, memory, end };

/// One thread's data.
class HostBenchmark::Worker {
 public:
  explicit Worker(std::uint64_t array_bytes) : wanted_length_(array_bytes / (3 * sizeof(double))) {}

  /// What is done until this time: bytes, or multiply-adds.
  double carry_out(Work work, double end_s) {
    switch (work) {
      case Work::fill:
        return fill(end_s);
      case Work::multiply_adds:
        return multiply_adds(end_s);
      case Work::memory:
        return memory_bytes(end_s);
      case Work::end:
        break;
    }
    return 0.0;
  }

  /// The part of the arrays that is filled.
  [[nodiscard]] double filled_ratio() const {
    return wanted_length_ == 0 ? 0.0
                               : static_cast<double>(length_) / static_cast<double>(wanted_length_);
  }

 private:
  /// By the thread that reads them, so that they are in the memory that is near to it.
  double fill(double end_s) {
    try {
      for (Array* array : {&a_, &b_, &c_}) {
        *array = std::make_unique_for_overwrite<double[]>(wanted_length_);
      }
    } catch (const std::bad_alloc&) {  // A limit of the user: memory is not measured.
      return 0.0;
    }
    while (length_ < wanted_length_ && now_s() < end_s) {
      const std::size_t number = std::min(kChunk, wanted_length_ - length_);
      std::fill_n(a_.get() + length_, number, 0.0);
      std::fill_n(b_.get() + length_, number, 1.0);
      std::fill_n(c_.get() + length_, number, 2.0);
      length_ += number;
    }
    return 3.0 * sizeof(double) * static_cast<double>(length_);
  }

  double multiply_adds(double end_s) {
    constexpr int kRepeats = 1024;  // a few microseconds between two looks at the clock
    // The values stay 1, so none of them becomes denormal or infinite.
    return amount_until(end_s, [this] { return multiply_add(chains_, 0.5, 0.5, kRepeats); });
  }

  double memory_bytes(double end_s) {
    return amount_until(end_s, [this] {
      const std::size_t number = std::min(kChunk, length_ - next_);
      const double bytes = triad({a_.get() + next_, number}, {b_.get() + next_, number},
                                 {c_.get() + next_, number}, 3.0);
      next_ = next_ + number < length_ ? next_ + number : 0;
      return bytes;
    });
  }

  template <typename Part>
  static double amount_until(double end_s, Part part) {
    double amount = 0.0;
    do amount += part();
    while (now_s() < end_s);
    return amount;
  }

  using Array = std::unique_ptr<double[]>;
  std::vector<double> chains_ = std::vector<double>(16, 1.0);
  Array a_, b_, c_;
  std::size_t wanted_length_;
  std::size_t length_ = 0;
  std::size_t next_ = 0;
};

/// The caller, and threads that sleep between orders.
class HostBenchmark::Threads {
 public:
  Threads(int num_threads, std::uint64_t first_bytes, std::uint64_t other_bytes) {
    for (int index = 0; index < num_threads; ++index) {
      workers_.emplace_back(index == 0 ? first_bytes : other_bytes);
    }
    try {
      for (std::size_t index = 1; index < workers_.size(); ++index) {
        threads_.emplace_back([this, index] { follow_orders(workers_[index]); });
      }
    } catch (...) {  // Those that have started are joined, and would wait for an order for ever.
      order(Work::end, 0.0);
      throw;
    }
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  Threads(Threads&&) = delete;
  Threads& operator=(Threads&&) = delete;
  ~Threads() { order(Work::end, 0.0); }

  /// What the caller does until this time.
  double alone(Work work, double end_s) { return workers_.front().carry_out(work, end_s); }

  /// What all threads do together until this time.
  double together(Work work, double end_s) {
    order(work, end_s);
    const double own = alone(work, end_s);
    std::unique_lock lock(mutex_);
    is_done_.wait(lock, [this] { return num_busy_ == 0; });
    return own + amount_;
  }

  /// The smallest part of a thread's arrays that is filled.
  [[nodiscard]] double filled_ratio() const {
    double ratio = 1.0;
    for (const Worker& worker : workers_) ratio = std::min(ratio, worker.filled_ratio());
    return ratio;
  }

 private:
  void order(Work work, double end_s) {
    {
      const std::lock_guard lock(mutex_);
      work_ = work;
      end_s_ = end_s;
      ++order_;
      amount_ = 0.0;
      num_busy_ = threads_.size();
    }
    is_ordered_.notify_all();
  }

  void follow_orders(Worker& worker) {
    for (std::uint64_t last = 0;;) {
      std::unique_lock lock(mutex_);
      is_ordered_.wait(lock, [&] { return order_ != last; });
      last = order_;
      const Work work = work_;
      const double end_s = end_s_;
      lock.unlock();
      if (work == Work::end) return;
      const double amount = worker.carry_out(work, end_s);
      lock.lock();
      amount_ += amount;
      if (--num_busy_ == 0) is_done_.notify_one();
    }
  }

  std::vector<Worker> workers_;  // each is its thread's between an order and its end
  std::mutex mutex_;             // protects the next five
  Work work_ = Work::end;
  double end_s_ = 0.0;
  std::uint64_t order_ = 0;
  double amount_ = 0.0;
  std::size_t num_busy_ = 0;
  std::condition_variable is_ordered_;
  std::condition_variable is_done_;
  std::vector<std::jthread> threads_;  // the last member: they end before what they use
};

HostBenchmark::HostBenchmark(int num_threads, const std::optional<ArrayBytes>& arrays,
                             double longest_fill_s)
    : threads_(std::make_unique<Threads>(num_threads, arrays ? arrays->of_first : 0,
                                         arrays ? arrays->of_other : 0)),
      has_memory_(arrays.has_value()) {
  assert(num_threads >= 1);
  if (!arrays) return;
  threads_->together(Work::fill, now_s() + longest_fill_s);
  has_memory_ = threads_->filled_ratio() * arrays->cache_ratio >= kLeastCacheRatio;
}

HostBenchmark::~HostBenchmark() = default;
HostBenchmark::HostBenchmark(HostBenchmark&&) noexcept = default;
HostBenchmark& HostBenchmark::operator=(HostBenchmark&&) noexcept = default;

HostPass HostBenchmark::pass(double slice_s) {
  double begin_s = now_s();
  // Each slice begins where the one before has ended, so that no time is lost between them.
  const auto rate = [&](double (Threads::*carry_out)(Work, double), Work work) {
    const double amount = (*threads_.*carry_out)(work, begin_s + slice_s);
    const double passed_s = now_s() - begin_s;
    begin_s += passed_s;
    return amount / passed_s;
  };
  HostPass rates{};
  rates.fill(std::numeric_limits<double>::quiet_NaN());
  rates[0] = rate(&Threads::alone, Work::multiply_adds);
  rates[1] = rate(&Threads::together, Work::multiply_adds);
  if (has_memory_) {
    rates[2] = rate(&Threads::alone, Work::memory);
    rates[3] = rate(&Threads::together, Work::memory);
  }
  return rates;
}

}  // namespace fairlead
