// SPDX-License-Identifier: Apache-2.0
// The event loop of the router.
#pragma once

#include <asio/io_context.hpp>
#include <chrono>

namespace fairlead::router {

/// The next frame is waited for by polling for so long, where there are cores for it.
inline constexpr std::chrono::microseconds kPollingTime{100};

/// Does what `context.run()` does, but sleeps only when nothing has come for a while: to wake a
/// sleeping process may take longer than to pass a short message on. Where other tasks want all
/// cores, they get them.
void run_busy_polling(asio::io_context& context);

}  // namespace fairlead::router
