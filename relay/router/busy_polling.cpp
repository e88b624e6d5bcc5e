// SPDX-License-Identifier: Apache-2.0
#include "router/busy_polling.hpp"

#include "router/spare_cores.hpp"

namespace fairlead::router {

void run_busy_polling(asio::io_context& context, int num_cores,
                      const std::function<std::optional<int>()>& count_running,
                      Clock::duration polling_time) {
  SpareCores cores(num_cores);
  Clock::time_point sleep_at{};
  while (!context.stopped()) {
    const bool is_idle = context.poll() == 0;
    const auto now = Clock::now();
    if (is_idle) {
      if (cores.wants_look(now)) cores.look(count_running(), now);
      if (now < sleep_at && cores.are_there()) continue;
      context.run_one();
    }
    sleep_at = Clock::now() + polling_time;
  }
}

}  // namespace fairlead::router
