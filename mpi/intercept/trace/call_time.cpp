// SPDX-License-Identifier: Apache-2.0
// The rate of the clock of calls, by the clock of the program.
#include "trace/call_time.hpp"

namespace fairlead::intercept {
namespace {

/// Written before anything is traced, then read alone.
struct Begin {
  double time_s = 0.0;
  std::uint64_t ticks = 0;
};
constinit Begin begun;

}  // namespace

void begin_call_times() noexcept {
  begun = {.time_s = now_s(), .ticks = ticks()};
}

double seconds_per_tick() noexcept {
  const std::uint64_t passed = ticks() - begun.ticks;
  return passed > 0 ? (now_s() - begun.time_s) / static_cast<double>(passed) : 0.0;
}

}  // namespace fairlead::intercept
