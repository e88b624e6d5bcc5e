// SPDX-License-Identifier: Apache-2.0
// When the router waits for frames by polling, and that it does all that comes.
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "router/busy_polling.hpp"
#include "router/spare_cores.hpp"

using namespace fairlead::router;

namespace {

constexpr int kCores = 4;

/// After looks with so many running tasks.
bool are_spare_after(const std::vector<std::optional<int>>& looks) {
  SpareCores cores(kCores);
  Clock::time_point now{};
  for (const std::optional<int>& num_running : looks) {
    cores.look(num_running, now);
    now += SpareCores::kLookInterval;
  }
  return cores.are_there();
}

/// How often it is looked whether cores are spare, of which there is one: first at the ticks of a
/// timer, and then, when nothing comes any more, only if it polls.
int num_looks(int num_running, int num_ticks, std::chrono::milliseconds silence) {
  asio::io_context context(1);
  asio::steady_timer timer(context);
  int looks = 0;
  const std::function<void(int)> tick = [&](int left) {
    if (left < 0) {
      context.stop();
      return;
    }
    timer.expires_after(left > 0 ? 2 * SpareCores::kLookInterval : silence);
    timer.async_wait([&tick, left](const asio::error_code&) { tick(left - 1); });
  };
  asio::post(context, [&] { tick(num_ticks); });
  const auto count_running = [&] {
    ++looks;
    return num_running;
  };
  run_busy_polling(context, 1, count_running, std::chrono::hours(1));
  return looks;
}

}  // namespace

TEST_CASE("busy polling: running tasks are the fourth word of the load") {
  CHECK(parse_num_running("0.20 18.05 0.12 13/480 11206\n") == 13);
  CHECK_FALSE(parse_num_running("0.20 18.05 0.12 13\n").has_value());
  CHECK_FALSE(parse_num_running("0.20 18.05 x 13/480 11206\n").has_value());
  CHECK_FALSE(parse_num_running("").has_value());
  // As gVisor writes it.
  CHECK_FALSE(parse_num_running("0.00 0.00 0.00 0/0 0\n").has_value());
}

TEST_CASE("busy polling: limits of processor time are those of both versions of control groups") {
  CHECK(is_cpu_quota("200000 100000\n"));
  CHECK_FALSE(is_cpu_quota("max 100000\n"));
  CHECK(is_cpu_quota("200000\n"));
  CHECK_FALSE(is_cpu_quota("-1\n"));
  CHECK_FALSE(is_cpu_quota(""));
}

TEST_CASE("busy polling: this task is among those of this machine that run") {
  REQUIRE(num_running().has_value());
  CHECK(num_running() >= 1);
}

TEST_CASE("busy polling: cores are spare where most looks found no more tasks than cores") {
  CHECK(are_spare_after(std::vector<std::optional<int>>(16, kCores)));
  CHECK_FALSE(are_spare_after(std::vector<std::optional<int>>(16, kCores + 1)));
  // One look in three finds a task more, as where two wake each other; or two in three.
  std::vector<std::optional<int>> few;
  std::vector<std::optional<int>> many;
  for (int look = 0; look < 30; ++look) {
    few.emplace_back(look % 3 == 0 ? kCores + 1 : kCores);
    many.emplace_back(look % 3 == 0 ? kCores : kCores + 1);
  }
  CHECK(are_spare_after(few));
  CHECK_FALSE(are_spare_after(many));
}

TEST_CASE("busy polling: cores are not spare before a check, or without a reading") {
  CHECK_FALSE(are_spare_after({}));
  CHECK_FALSE(are_spare_after({1}));
  CHECK_FALSE(are_spare_after(std::vector<std::optional<int>>(100)));
}

TEST_CASE("busy polling: there is a time between looks") {
  SpareCores cores(kCores);
  const Clock::time_point now = Clock::now();
  CHECK(cores.wants_look(now));
  cores.look(1, now);
  CHECK_FALSE(cores.wants_look(now + SpareCores::kLookInterval / 2));
  CHECK(cores.wants_look(now + SpareCores::kLookInterval));
}

TEST_CASE("busy polling: where cores are spare it looks for what comes, instead of sleeping") {
  constexpr int kTicks = 20;
  // In the silence there is time for some forty looks, also on a busy machine for some.
  CHECK(num_looks(1, kTicks, std::chrono::milliseconds(200)) > kTicks + 2);
  // One look more at the beginning, and one before the last sleep.
  CHECK(num_looks(2, kTicks, std::chrono::milliseconds(200)) <= kTicks + 2);
}

TEST_CASE("busy polling: what other threads give is done, until it is stopped") {
  asio::io_context context(1);
  const auto work = asio::make_work_guard(context);
  int num_done = 0;
  std::thread other([&] {
    for (int time = 0; time < 100; ++time) {
      // Sooner and later than it sleeps.
      std::this_thread::sleep_for(time % 3 * kPollingTime);
      asio::post(context, [&] { ++num_done; });
    }
    asio::post(context, [&] { context.stop(); });
  });
  run_busy_polling(context, 1, [] { return 1; });
  other.join();
  CHECK(num_done == 100);
}
