// SPDX-License-Identifier: Apache-2.0
// How long MPI_Init waits for routers and other processes. One that accepts no connection is soon
// considered unreachable. One that has accepted a connection is running, and may answer late where
// a machine is busy or suspended for a while.
#pragma once

#include <chrono>

#include "routing/path_state.hpp"

namespace fairlead::relay {

struct StartTimeouts {
  /// For one that accepts no connection. Refused attempts are counted, not timed, since a process
  /// that was suspended has made none meanwhile.
  Clock::duration calling = std::chrono::seconds{5};
  /// By this time all must have answered: the router of this host and other processes.
  Time until = Clock::now() + std::chrono::seconds{30};

  /// @param interval  between two calls
  [[nodiscard]] int num_calls(Clock::duration interval) const {
    return static_cast<int>(calling / interval);
  }
};

}  // namespace fairlead::relay
