// SPDX-License-Identifier: Apache-2.0
// The clock of the probe, and the pauses of idle processes.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace fairlead::probe {

/// Seconds since an arbitrary start; never goes back. Differs between hosts.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The longest pause of a process whose turn is near, of one whose turn is later, and of one that
/// only answers pings.
inline constexpr double kShortPause_s = 200e-6;
inline constexpr double kLongPause_s = 3e-3;
inline constexpr double kIdlePause_s = 30e-3;

/// Sleeps for a time that grows with the time waited so far: if hosts are containers on one
/// machine, waiting processes must not take processor time from those that measure.
inline void pause(double waited_s, double longest_s) {
  const double pause_s = std::clamp(waited_s / 8, 10e-6, longest_s);
  std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
}

}  // namespace fairlead::probe
