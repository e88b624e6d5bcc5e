// SPDX-License-Identifier: Apache-2.0
// The clock of the probe, and the pause of a process that has nothing to do.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace fairlead::probe {

/// Seconds since an arbitrary start; never goes back. Differs between hosts.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Sleeps for a while that grows with the time waited so far: a process that waits for long must
/// not take processor time from those that measure, where hosts are containers of one machine.
/// @param is_near whether what it waits for is about to come.
inline void pause(double waited_s, bool is_near) {
  const double pause_s = std::clamp(waited_s / 8, 10e-6, is_near ? 200e-6 : 3e-3);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
}

}  // namespace fairlead::probe
