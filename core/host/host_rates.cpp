// SPDX-License-Identifier: Apache-2.0
// Slices of one thread and of all, in turns: what disturbs the host for a moment disturbs each
// rate.
#include "fairlead/host/host_rates.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <numeric>
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

/// One thread's data.
class HostBenchmark::Worker {
 public:
  explicit Worker(std::size_t memory_bytes)
      : chains_(16, 1.0),
        a_(std::max<std::size_t>(1, memory_bytes / (3 * sizeof(double)))),
        b_(a_.size(), 1.0),
        c_(a_.size(), 2.0) {}

  /// Multiply-adds until this time.
  double multiply_adds(double end_s) {
    constexpr int kRepeats = 1024;  // a few microseconds between two looks at the clock
    // The values stay 1, so none of them becomes denormal or infinite.
    return amount_until(end_s, [this] { return multiply_add(chains_, 0.5, 0.5, kRepeats); });
  }

  /// Bytes of memory until this time.
  double memory_bytes(double end_s) {
    return amount_until(end_s, [this] {
      const std::size_t length = std::min(kChunk, a_.size() - next_);
      const std::span<const double> b(b_), c(c_);
      const double bytes = triad(std::span(a_).subspan(next_, length), b.subspan(next_, length),
                                 c.subspan(next_, length), 3.0);
      next_ = next_ + length < a_.size() ? next_ + length : 0;
      return bytes;
    });
  }

 private:
  template <typename Part>
  static double amount_until(double end_s, Part part) {
    double amount = 0.0;
    do amount += part();
    while (now_s() < end_s);
    return amount;
  }

  std::vector<double> chains_;
  std::vector<double> a_, b_, c_;
  std::size_t next_ = 0;
};

struct HostBenchmark::Workers {
  std::vector<Worker> all;

  /// What the first threads do together until this time.
  template <typename Slice>
  double sum_until(std::size_t num_threads, double end_s, Slice slice) {
    std::vector<double> amounts(num_threads, 0.0);
    std::vector<std::thread> others;
    for (std::size_t index = 1; index < num_threads; ++index) {
      others.emplace_back([&, index] { amounts[index] = slice(all[index], end_s); });
    }
    amounts[0] = slice(all[0], end_s);
    for (std::thread& thread : others) thread.join();
    return std::accumulate(amounts.begin(), amounts.end(), 0.0);
  }
};

HostBenchmark::HostBenchmark(int num_cores, std::size_t memory_bytes)
    : workers_(std::make_unique<Workers>()) {
  assert(num_cores >= 1);
  for (int core = 0; core < num_cores; ++core) {
    workers_->all.emplace_back(memory_bytes / static_cast<std::size_t>(num_cores));
  }
}

HostBenchmark::~HostBenchmark() = default;
HostBenchmark::HostBenchmark(HostBenchmark&&) noexcept = default;
HostBenchmark& HostBenchmark::operator=(HostBenchmark&&) noexcept = default;

HostPass HostBenchmark::pass(double slice_s) {
  const auto adds = [](Worker& worker, double end_s) { return worker.multiply_adds(end_s); };
  const auto bytes = [](Worker& worker, double end_s) { return worker.memory_bytes(end_s); };
  const std::size_t num_cores = workers_->all.size();
  double begin_s = now_s();
  // Each slice begins where the one before has ended, so that no time is lost between them.
  const auto rate = [&](std::size_t num_threads, const auto& slice) {
    const double amount = workers_->sum_until(num_threads, begin_s + slice_s, slice);
    const double passed_s = now_s() - begin_s;
    begin_s += passed_s;
    return amount / passed_s;
  };
  HostPass rates{};
  rates[0] = rate(1, adds);
  rates[1] = rate(num_cores, adds);
  rates[2] = rate(1, bytes);
  rates[3] = rate(num_cores, bytes);
  return rates;
}

std::array<RateEstimate, kNumHostRates> estimate_rates(std::span<const HostPass> passes) {
  // The 97.5 % quantile of Student's distribution with kNumHostPasses - 1 degrees of freedom.
  constexpr double kStudent = 2.5706;
  assert(passes.size() == kNumHostPasses);
  std::array<RateEstimate, kNumHostRates> estimates{};
  for (std::size_t rate = 0; rate < kNumHostRates; ++rate) {
    double mean = 0.0, squares = 0.0;
    for (const HostPass& pass : passes) mean += std::log(pass[rate]) / kNumHostPasses;
    for (const HostPass& pass : passes) squares += std::pow(std::log(pass[rate]) - mean, 2);
    const double error = std::sqrt(squares / (kNumHostPasses * (kNumHostPasses - 1)));
    estimates[rate] = {.value = std::exp(mean),
                       .low = std::exp(mean - kStudent * error),
                       .high = std::exp(mean + kStudent * error)};
  }
  return estimates;
}

}  // namespace fairlead
