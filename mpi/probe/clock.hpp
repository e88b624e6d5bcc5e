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
inline void pause(double waited_s) {
  const double pause_s = std::clamp(waited_s / 8, 10e-6, 300e-6);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
}

}  // namespace fairlead::probe
