// SPDX-License-Identifier: Apache-2.0
// Threads that are bound to a CPU each take turns by an atomic number.
#include "inside/cpu_times.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>

#include "clock.hpp"
#include "inside/allowed_cpus.hpp"

namespace fairlead::probe {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMeasuring_s = 0.01;
constexpr int kRoundTripsOfSample = 50;
constexpr std::size_t kMessageBytes = std::size_t{1} << 20;
constexpr std::size_t kCacheLineBytes = 64;
constexpr std::int64_t kWarmUpSamples = 2;

/// The turn of two threads: even numbers are the first one's, odd ones the second one's.
struct alignas(2 * kCacheLineBytes) Turns {
  std::atomic<std::int64_t> turn{0};
  std::atomic<bool> is_over{false};

  /// Waits for a number of its own. Returns false at the end.
  bool await(std::int64_t number) {
    for (std::int64_t looks = 1; turn.load(std::memory_order_acquire) != number; ++looks) {
      if (is_over.load(std::memory_order_relaxed)) return false;
      if (looks % 4096 == 0) std::this_thread::yield();
    }
    return true;
  }
  void pass(std::int64_t number) { turn.store(number, std::memory_order_release); }
};

double median(std::vector<double> values) {
  if (values.empty()) return kNan;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Runs both functions on their CPUs at the same time. Returns whether both could run there.
template <typename First, typename Second>
bool run_on(int first_cpu, int second_cpu, Turns& turns, First first, Second second) {
  bool is_first_bound = false;
  bool is_second_bound = false;
  std::atomic<int> num_ready{0};
  const auto start = [&](int cpu, bool& is_bound, auto& work) {
    is_bound = bind_thread(cpu);
    if (!is_bound) turns.is_over = true;
    ++num_ready;
    while (num_ready.load() < 2) std::this_thread::yield();
    if (!turns.is_over) work();
    turns.is_over = true;
  };
  std::thread one([&] { start(first_cpu, is_first_bound, first); });
  std::thread other([&] { start(second_cpu, is_second_bound, second); });
  one.join();
  other.join();
  return is_first_bound && is_second_bound;
}

double time_round_trips(int first_cpu, int second_cpu) {
  const auto turns = std::make_unique<Turns>();
  std::vector<double> samples_s;
  const auto ask = [&] {
    const double begin_s = now_s();
    std::int64_t number = 0;
    for (int sample = 0; now_s() - begin_s < kMeasuring_s; ++sample) {
      const double sample_s = now_s();
      for (int trip = 0; trip < kRoundTripsOfSample; ++trip) {
        turns->pass(number + 1);
        if (!turns->await(number + 2)) return;
        number += 2;
      }
      if (sample >= kWarmUpSamples) samples_s.push_back(now_s() - sample_s);
    }
  };
  const auto answer = [&] {
    for (std::int64_t number = 1; turns->await(number); number += 2) turns->pass(number + 1);
  };
  if (!run_on(first_cpu, second_cpu, *turns, ask, answer)) return kNan;
  return median(samples_s) / (2 * kRoundTripsOfSample);
}

double time_copies(int first_cpu, int second_cpu) {
  const auto turns = std::make_unique<Turns>();
  std::vector<std::byte> shared;
  std::vector<double> samples_s;
  const auto write = [&] {
    shared.resize(kMessageBytes);  // The writer's memory, as a sender's.
    const double begin_s = now_s();
    for (std::int64_t number = 0; now_s() - begin_s < kMeasuring_s; number += 2) {
      std::memset(shared.data(), static_cast<int>(number % 251), shared.size());
      turns->pass(number + 1);
      if (!turns->await(number + 2)) return;
    }
  };
  const auto copy = [&] {
    std::vector<std::byte> own(kMessageBytes);
    for (std::int64_t number = 1; turns->await(number); number += 2) {
      const double begin_s = now_s();
      std::memcpy(own.data(), shared.data(), shared.size());
      if (number > 2 * kWarmUpSamples) samples_s.push_back(now_s() - begin_s);
      turns->pass(number + 1);
    }
  };
  if (!run_on(first_cpu, second_cpu, *turns, write, copy)) return kNan;
  return static_cast<double>(kMessageBytes) / median(samples_s);
}

/// Reads the words of a buffer until it is over; returns the bytes that were read.
double read_until(const std::vector<std::uint64_t>& buffer, const std::atomic<bool>& is_over,
                  std::uint64_t& sum) {
  constexpr std::size_t kPartWords = 8192;
  double read_bytes = 0;
  while (!is_over.load(std::memory_order_relaxed)) {
    for (std::size_t at = 0; at < buffer.size() && !is_over; at += kPartWords) {
      const std::size_t end = std::min(at + kPartWords, buffer.size());
      sum = std::accumulate(buffer.begin() + static_cast<std::ptrdiff_t>(at),
                            buffer.begin() + static_cast<std::ptrdiff_t>(end), sum);
      read_bytes += static_cast<double>((end - at) * sizeof(std::uint64_t));
    }
  }
  return read_bytes;
}

}  // namespace

CpuPairTimes time_cpu_pair(int first, int second) {
  return {.latency_s = time_round_trips(first, second),
          .bandwidth_Bps = time_copies(first, second)};
}

double time_memory(const std::vector<int>& cpus, std::int64_t bytes_of_each) {
  std::atomic<std::size_t> num_ready{0};
  std::atomic<bool> are_bound{true};
  std::atomic<bool> may_begin{false};
  std::atomic<bool> is_over{false};
  std::vector<double> read_bytes(cpus.size(), 0.0);
  std::vector<std::uint64_t> sums(cpus.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < cpus.size(); ++index) {
    threads.emplace_back([&, index] {
      if (!bind_thread(cpus[index])) are_bound = false;
      const std::vector<std::uint64_t> buffer(
          static_cast<std::size_t>(bytes_of_each) / sizeof(std::uint64_t), index + 1);
      ++num_ready;
      while (!may_begin) std::this_thread::yield();
      std::uint64_t sum = 0;
      const double bytes = read_until(buffer, is_over, sum);
      read_bytes[index] = bytes;
      sums[index] = sum;  // So that the reads are not left out as unused.
    });
  }
  while (num_ready < cpus.size()) std::this_thread::yield();
  may_begin = true;
  const double begin_s = now_s();
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * kMeasuring_s));
  is_over = true;
  const double elapsed_s = now_s() - begin_s;
  for (std::thread& thread : threads) thread.join();
  if (!are_bound) return kNan;
  return std::accumulate(read_bytes.begin(), read_bytes.end(), 0.0) / elapsed_s;
}

}  // namespace fairlead::probe
