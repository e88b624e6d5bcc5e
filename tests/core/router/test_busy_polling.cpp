// SPDX-License-Identifier: Apache-2.0
// When the router waits for frames by polling, and that it does all that comes.
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "busy_polling.hpp"
#include "catch.hpp"
#include "spare_cores.hpp"

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

}  // namespace

TEST_CASE("busy polling: running tasks are the fourth word of the load") {
  CHECK(parse_num_running("0.20 18.05 0.12 13/480 11206\n") == 13);
  CHECK_FALSE(parse_num_running("0.20 18.05 0.12 13\n").has_value());
  CHECK_FALSE(parse_num_running("0.20 18.05 x 13/480 11206\n").has_value());
  CHECK_FALSE(parse_num_running("").has_value());
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

TEST_CASE("busy polling: cores are not spare before it has been looked, or where nothing is told") {
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

TEST_CASE("busy polling: what comes soon and what comes late is done, until it is stopped") {
  asio::io_context context(1);
  const auto work = asio::make_work_guard(context);
  int num_done = 0;
  std::thread other([&] {
    for (int time = 0; time < 60; ++time) {
      // Now and then later than it polls, so that it sleeps.
      std::this_thread::sleep_for(time % 3 * kPollingTime);
      asio::post(context, [&] { ++num_done; });
    }
    asio::post(context, [&] { context.stop(); });
  });
  run_busy_polling(context);
  other.join();
  CHECK(num_done == 60);
}
