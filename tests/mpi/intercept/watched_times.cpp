// SPDX-License-Identifier: Apache-2.0
// When calls are looked at, when their times count as drift, which of two schedules stays, and what
// a probe changes; no MPI, and the times are invented.
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "../../core/catch.hpp"
#include "collectives/drift_watch.hpp"
#include "collectives/network_now.hpp"
#include "collectives/schedule_comparison.hpp"
#include "collectives/watched_call.hpp"
#include "collectives/watched_times.hpp"

using namespace fairlead::intercept;

namespace {

constexpr DriftRule kRule{.max_ratio = 0.2};
constexpr DriftRule kPaperRule{.max_ratio = 0.2, .expected = Expected::predicted};

struct Window {
  int calls = 0;
  int timed_calls = 0;
};

/// Calls until the next agreement.
Window window_of(WatchedTimes& times, double call_s) {
  Window window;
  for (; !times.is_due(); ++window.calls) {
    if (times.is_timed_next()) {
      times.add(call_s);
      ++window.timed_calls;
    } else {
      times.count();
    }
  }
  return window;
}

}  // namespace

TEST_CASE("watching: without a prediction or a rule there is nothing to watch") {
  CHECK(WatchedTimes(1e-3, kRule).is_on());
  CHECK_FALSE(WatchedTimes(0.0, kRule).is_on());
  CHECK_FALSE(WatchedTimes(1e-3, DriftRule{}).is_on());
}

TEST_CASE("watching: short calls are agreed on less often") {
  WatchedTimes slow(1.0, kRule), fast(4e-3, kRule);

  CHECK(window_of(slow, 1.0).calls == 16);
  CHECK(window_of(fast, 4e-3).calls == 101);
}

TEST_CASE("watching: a window alone is short where something is to be agreed on soon") {
  WatchedTimes times(4e-3, kRule);
  window_of(times, 4e-3);
  times.begin_window(1e-3, 4e-3);

  times.shorten_window();

  CHECK(window_of(times, 4e-3).calls == 16);
  times.begin_window(1e-3, 4e-3);
  CHECK(window_of(times, 4e-3).calls == 101);
}

TEST_CASE("watching: agreements take at most half of what is allowed") {
  WatchedTimes times(1e-3, kRule);
  window_of(times, 1e-3);

  times.begin_window(1e-4, 1e-3);

  CHECK(window_of(times, 1e-3).calls * 1e-3 * kRule.max_cost_ratio / 2 >= 1e-4 * 0.999);
}

TEST_CASE("watching: of long calls all are timed, of short ones a few in each window") {
  WatchedTimes slow(1.0, kRule), fast(1e-6, kRule);
  fast.begin_window(5e-6, 1e-6);

  CHECK(window_of(slow, 1.0).timed_calls == 16);
  const Window window = window_of(fast, 1e-6);
  CHECK(window.calls > 4000);
  CHECK(window.timed_calls >= 60);
  CHECK(window.timed_calls <= 64);
}

TEST_CASE("watching: two readings of a clock are within what is allowed however short calls are") {
  constexpr double kTwoReadings_s = 1e-7;
  WatchedTimes times(1e-6, kRule);

  times.begin_window(1e-9, 1e-6);

  const Window window = window_of(times, 1e-6);
  CHECK(window.timed_calls * kTwoReadings_s <= window.calls * 1e-6 * kRule.max_cost_ratio / 2);
}

TEST_CASE("watching: a rank on which calls fail is due for the agreement with the others") {
  WatchedTimes failing(4e-3, kRule), throwing(4e-3, kRule), others(4e-3, kRule);

  while (!others.is_due()) {
    CHECK_FALSE(failing.is_due());
    CHECK(watched_call(failing, [] { return MPI_ERR_TYPE; }) == MPI_ERR_TYPE);
    CHECK(watched_call(throwing, []() -> int { throw MpiFailure{MPI_ERR_TYPE}; }) == MPI_ERR_TYPE);
    CHECK(watched_call(others, [] { return MPI_SUCCESS; }) == MPI_SUCCESS);
  }

  CHECK(failing.is_due());
  CHECK(throwing.is_due());
}

TEST_CASE("watching: the time of a window is that of its own calls") {
  WatchedTimes times(1e-3, kRule);
  window_of(times, 1e-3);
  times.begin_window(1e-6, 1e-3);

  window_of(times, 3e-3);

  CHECK(times.median_s() == static_cast<double>(3e-3F));
}

TEST_CASE("watching: the first window says what to expect, however wrong the prediction is") {
  WatchedTimes times(1e-3, kRule);

  CHECK_FALSE(times.has_drifted(7e-3));
  CHECK_FALSE(times.has_drifted(8e-3));
  CHECK(times.has_drifted(8.5e-3));
}

TEST_CASE("watching: only a difference beyond the ratio is drift, in both directions") {
  WatchedTimes times(1e-3, kRule);
  times.expect(1e-3);

  CHECK_FALSE(times.has_drifted(1.19e-3));
  CHECK_FALSE(times.has_drifted(0.85e-3));
  CHECK(times.has_drifted(1.21e-3));
  CHECK(times.has_drifted(0.8e-3));
}

TEST_CASE("watching: by the paper's rule the predicted time stays what is expected") {
  WatchedTimes times(1e-3, kPaperRule);

  times.expect(2e-3);

  CHECK(times.has_drifted(2e-3));
  CHECK_FALSE(times.has_drifted(1.1e-3));
  times.restart(2e-3);
  CHECK_FALSE(times.has_drifted(2e-3));
}

TEST_CASE("watching: after another schedule the first window says what to expect") {
  WatchedTimes times(1e-3, kRule);
  times.expect(1e-3);

  times.restart(5e-4);

  CHECK_FALSE(times.has_drifted(7e-3));
  CHECK(times.has_drifted(9e-3));
}

TEST_CASE("watching: a single slow call is no drift") {
  WatchedTimes times(1e-3, kRule);
  times.expect(1e-3);
  for (int call = 0; call < 20; ++call) times.add(call == 7 ? 1.0 : 1e-3);

  CHECK_FALSE(times.has_drifted(times.median_s()));
}

namespace {

struct Compared {
  Verdict verdict = Verdict::open;
  int calls = 0;
  int calls_of_new = 0;
};

/// @param new_s  of the pair at each index
template <class NewTime>
Compared compared(double old_s, NewTime new_s) {
  ScheduleComparison comparison;
  Compared result;
  for (int pair = 0; result.verdict == Verdict::open; ++result.calls) {
    const bool is_new = comparison.begin_call();
    result.calls_of_new += is_new ? 1 : 0;
    // The first call may set things up.
    comparison.add(result.calls == 0 ? 100.0 : is_new ? new_s(pair) : old_s);
    if (!comparison.is_due()) continue;
    result.verdict = comparison.judge(comparison.old_s(), comparison.new_s());
    ++pair;
  }
  return result;
}

}  // namespace

TEST_CASE("comparison: a new schedule that is always faster replaces the old one") {
  const Compared result = compared(1.0, [](int) { return 0.9; });

  CHECK(result.verdict == Verdict::is_replaced);
  CHECK(result.calls == 1 + 2 * ScheduleComparison::kNumWins);
  CHECK(result.calls_of_new == 1 + ScheduleComparison::kNumWins);
}

TEST_CASE("comparison: a slower schedule is given up after two pairs") {
  const Compared result = compared(1.0, [](int) { return 3.0; });

  CHECK(result.verdict == Verdict::stays);
  CHECK(result.calls == 5);
}

TEST_CASE("comparison: one pair may be lost, a second one may not") {
  CHECK(compared(1.0, [](int pair) { return pair == 3 ? 2.0 : 0.9; }).verdict ==
        Verdict::is_replaced);
  CHECK(compared(1.0, [](int pair) { return pair % 4 == 3 ? 2.0 : 0.9; }).verdict ==
        Verdict::stays);
}

TEST_CASE("comparison: a saving below two percent is none") {
  CHECK(compared(1.0, [](int) { return 0.985; }).verdict == Verdict::stays);
}

TEST_CASE("comparison: which of a pair comes first changes from pair to pair") {
  ScheduleComparison comparison;
  std::vector<bool> is_new;
  for (int call = 0; call < 9; ++call) is_new.push_back(comparison.begin_call());

  CHECK(is_new == std::vector<bool>{true, false, true, true, false, false, true, true, false});
}

TEST_CASE("comparison: what calls took when the MPI's own were tried counts for their schedule") {
  const auto schedule = [](double predicted_s) {
    fairlead::collectives::Schedule planned;
    planned.predicted_s = predicted_s;
    return std::make_unique<fairlead::collectives::Schedule>(planned);
  };
  constexpr double kRatio = 0.2;
  PlannedCalls calls{.request = {}, .schedule = schedule(1e-3), .times = {1e-3, kRule}};

  CHECK(calls.may_mpi_be_faster(1.3e-3, kRatio));
  calls.compared_s = 5e-3;
  CHECK_FALSE(calls.may_mpi_be_faster(5.1e-3, kRatio));
  CHECK(calls.may_mpi_be_faster(6.1e-3, kRatio));

  calls.replace(schedule(2e-3));
  CHECK(calls.may_mpi_be_faster(3e-3, kRatio));

  calls.compared_s = 5e-3;
  calls.predict(1e-3);
  CHECK(calls.may_mpi_be_faster(3e-3, kRatio));
}

TEST_CASE("probing: what one probe leaves out is known from an earlier one") {
  ProbedPairs known{.latency_s = {0, 2, 0, 0}, .bandwidth_Bps = {0, 20, 0, 0}};

  known.add({.latency_s = {0, 0, 3, 0}, .bandwidth_Bps = {0, 0, 30, 0}});

  CHECK(known.latency_s == std::vector<double>{0, 2, 3, 0});
  CHECK(known.bandwidth_Bps == std::vector<double>{0, 20, 30, 0});
}

TEST_CASE("probing: interfaces and groups change as the median of their pairs") {
  const double infinite = std::numeric_limits<double>::infinity();
  NetworkPlan network{.names_of_host = {{"a"}, {"b"}, {"c"}}};
  network.latency_s = {0, 1, 1, 1, 0, 1, 1, 1, 0};
  network.bandwidth_Bps = {infinite, 100, 100, 100, infinite, 100, 100, 100, infinite};
  network.nic_out_Bps = {100, 100, 100};
  network.groups = {
      .group_of_pair = {0}, .src_of_pair = {0}, .dst_of_pair = {2}, .capacity_Bps = {50}};
  const ProbedPairs probed{.latency_s = {0, 2, 2, 0}, .bandwidth_Bps = {0, 10, 10, 0}};

  const std::vector<std::int32_t> hosts{0, 2};
  const NetworkPlan now = updated(network, hosts, probed);

  CHECK(now.bandwidth_Bps[2] == 10);
  CHECK(now.latency_s[2] == 2);
  CHECK(now.bandwidth_Bps[1] == 100);
  CHECK(now.groups.capacity_Bps[0] == 5);
  CHECK(now.nic_out_Bps == std::vector<double>{10, 100, 10});
}
