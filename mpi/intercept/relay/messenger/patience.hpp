// SPDX-License-Identifier: Apache-2.0
// How long MPI_Init waits for others. Who cannot be called is soon known to be out of reach; who
// has taken a call is there, and answers late where a machine is busy or stands still for a while.
#pragma once

#include <chrono>

#include "relay/messenger/path_state.hpp"

namespace fairlead::intercept::relay {

struct Patience {
  /// With one that takes no call. Refused calls are counted, not timed: a process that stood still
  /// has called nobody meanwhile.
  Clock::duration calling = std::chrono::seconds{5};
  /// When all have to have answered, the own router and other processes.
  Time until = Clock::now() + std::chrono::seconds{30};

  /// @param interval  between two calls
  [[nodiscard]] int num_calls(Clock::duration interval) const {
    return static_cast<int>(calling / interval);
  }
};

}  // namespace fairlead::intercept::relay
