// SPDX-License-Identifier: Apache-2.0
// The timed loops compute what they count.
#include "fairlead/host/host_rates.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <system_error>
#include <vector>

#include "catch.hpp"
#include "fairlead/host/host_benchmark.hpp"

using Doubles = std::vector<double>;

TEST_CASE("host rates: repeated multiply-adds have the closed form of a geometric series") {
  Doubles values(32);
  std::iota(values.begin(), values.end(), 1.0);
  const Doubles first = values;
  constexpr double kFactor = 0.9, kSummand = 0.3;
  constexpr int kRepeats = 25;

  CHECK(fairlead::multiply_add(values, kFactor, kSummand, kRepeats) == 32 * kRepeats);

  // x_n = f^n x_0 + s (f^n - 1) / (f - 1)
  const double power = std::pow(kFactor, kRepeats);
  for (std::size_t index = 0; index < values.size(); ++index) {
    const double expected = power * first[index] + kSummand * (power - 1) / (kFactor - 1);
    CHECK(std::abs(values[index] - expected) < 1e-12);
  }
}

TEST_CASE("host rates: the triad reads two arrays and writes one") {
  Doubles a(100), b(100), c(100);
  std::iota(b.begin(), b.end(), 0.0);
  std::iota(c.begin(), c.end(), 7.0);

  CHECK(fairlead::triad(a, b, c, 3.0) == 3 * 8 * 100);

  for (std::size_t index = 0; index < a.size(); ++index)
    CHECK(a[index] == b[index] + 3.0 * c[index]);
}

TEST_CASE("host rates: the estimate is the geometric mean, with Student's interval of logarithms") {
  std::vector<fairlead::HostPass> passes;
  for (const double power : {-1.0, 1.0, -1.0, 1.0, -1.0, 1.0}) {
    passes.push_back({7.0, 100 * std::pow(1.1, power), 8.0, 9.0});
  }

  const auto rates = fairlead::estimate_rates(passes);

  // All equal: no spread. Else a standard deviation of log(1.1) * sqrt(6 / 5), t(5) = 2.5706.
  CHECK(rates[0].low == rates[0].high);
  CHECK(std::abs(rates[0].value - 7.0) < 1e-9);
  CHECK(std::abs(rates[1].value - 100.0) < 1e-9);
  const double half = 2.5706 * std::log(1.1) * std::sqrt(6.0 / 5.0) / std::sqrt(6.0);
  CHECK(std::abs(rates[1].low - 100 * std::exp(-half)) < 1e-9);
  CHECK(std::abs(rates[1].high - 100 * std::exp(half)) < 1e-9);
}

TEST_CASE("host rates: a rate that is unknown or 0 in one pass is unknown, and not small") {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<fairlead::HostPass> passes(fairlead::kNumHostPasses, {1.0, 2.0, 3.0, 4.0});
  passes[2] = {1.0, kNan, 0.0, -1.0};

  const auto rates = fairlead::estimate_rates(passes);

  CHECK(std::abs(rates[0].value - 1.0) < 1e-12);
  for (std::size_t rate = 1; rate < rates.size(); ++rate) {
    CHECK(std::isnan(rates[rate].value));
    CHECK(std::isnan(rates[rate].low));
    CHECK(std::isnan(rates[rate].high));
  }
}

constexpr fairlead::ArrayBytes kSmallArrays{
    .of_first = 1 << 20, .of_other = 1 << 16, .cache_ratio = 4.0};

TEST_CASE("host rates: a pass has each rate of one core and of several") {
  fairlead::HostBenchmark benchmark(3, kSmallArrays, 60.0);

  for (int count = 0; count < 2; ++count) {
    for (const double rate : benchmark.pass(0.0004)) CHECK(rate > 0);
  }
}

TEST_CASE("host rates: without arrays, or with the caches' share of them, memory is unknown") {
  fairlead::HostBenchmark without(2, std::nullopt, 60.0);
  fairlead::HostBenchmark without_time(2, kSmallArrays, 0.0);

  for (fairlead::HostBenchmark* benchmark : {&without, &without_time}) {
    const fairlead::HostPass pass = benchmark->pass(0.0004);
    CHECK(pass[0] > 0);
    CHECK(pass[1] > 0);
    CHECK(std::isnan(pass[2]));
    CHECK(std::isnan(pass[3]));
  }
}

namespace {

/// The exit code of a process that has room for the stacks of a few more threads, and wants many.
int start_too_many_threads() {
  constexpr rlim_t kFurtherBytes = rlim_t{40} << 20;
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kFurtherBytes;
  const rlimit memory{.rlim_cur = limit, .rlim_max = limit};
  if (setrlimit(RLIMIT_AS, &memory) != 0) return 2;
  try {
    const fairlead::HostBenchmark benchmark(256, std::nullopt, 60.0);
  } catch (const std::system_error&) {
    return 0;
  }
  return 1;
}

}  // namespace

TEST_CASE("host rates: where threads cannot be started, those that have started end") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // ends a child that hangs
    _exit(start_too_many_threads());
  }

  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);

  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
