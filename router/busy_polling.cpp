// SPDX-License-Identifier: Apache-2.0
#include "busy_polling.hpp"

#include <sched.h>

#include "spare_cores.hpp"

namespace fairlead::router {
namespace {

int num_own_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

}  // namespace

void run_busy_polling(asio::io_context& context) {
  SpareCores cores(num_own_cores());
  Clock::time_point sleep_at{};
  while (!context.stopped()) {
    const bool is_idle = context.poll() == 0;
    const auto now = Clock::now();
    if (is_idle) {
      if (cores.wants_look(now)) cores.look(num_running(), now);
      if (now < sleep_at && cores.are_there()) continue;
      context.run_one();
    }
    sleep_at = Clock::now() + kPollingTime;
  }
}

}  // namespace fairlead::router
