// SPDX-License-Identifier: Apache-2.0
// The event loop of the router.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <optional>

#include "router/frame_queue.hpp"

namespace fairlead::router {

/// How long the router polls for the next frame before it sleeps, where there are idle cores.
inline constexpr std::chrono::microseconds kPollingTime{100};

/// Does what `context.run()` does, but sleeps only when no event has come for a while: waking a
/// sleeping process may take longer than forwarding a short message. Where other tasks need all
/// cores, it does not poll.
/// @param num_cores     as by `num_own_cores`
/// @param count_running as `num_running`
void run_busy_polling(asio::io_context& context, int num_cores,
                      const std::function<std::optional<int>()>& count_running,
                      Clock::duration polling_time = kPollingTime);

}  // namespace fairlead::router
