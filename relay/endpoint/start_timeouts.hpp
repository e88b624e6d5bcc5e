// SPDX-License-Identifier: Apache-2.0
// How long MPI_Init waits for others. One that cannot be called is soon known to be out of reach;
// one that has taken a call is there, and answers late where a machine is busy or stands still for
// a while.
#pragma once

#include <chrono>

#include "routing/path_state.hpp"

namespace fairlead::relay {

struct StartTimeouts {
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

}  // namespace fairlead::relay
