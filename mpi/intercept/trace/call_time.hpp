// SPDX-License-Identifier: Apache-2.0
// The time that a thread spends inside of MPI calls; the rest of a rank's time is computing.
#pragma once

#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "pmpi/clock.hpp"
#include "pmpi/simulated.hpp"
#include "trace/counters.hpp"
#include "trace/recorder.hpp"

namespace fairlead::intercept {

/// A clock of unknown rate that costs a few nanoseconds, where the processor has one.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
  constexpr double kPerSecond = 1e9;
#if defined(__x86_64__)
  if constexpr (!kIsSimulated) return __rdtsc();
#elif defined(__aarch64__)
  if constexpr (!kIsSimulated) {
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
  }
#endif
  return static_cast<std::uint64_t>(now_s() * kPerSecond);
}

/// Sets where the time of calls begins: the end of MPI_Init.
void begin_call_times() noexcept;
/// By how much the clock has gone on in a second since then, inverted; 0 right at the beginning.
[[nodiscard]] double seconds_per_tick() noexcept;

/// Whether a call of this name can wait for another rank. The others return at once; they are a
/// part of the computing time, as reading the clock would double their cost.
[[nodiscard]] constexpr bool may_wait(std::string_view name) noexcept {
  if (name.starts_with("Iprobe") || name.starts_with("Improbe")) return true;  // asked in a loop
  return !(name.starts_with('I') || name.ends_with("_init") || name.ends_with("_init_c") ||
           name.starts_with("Start") || name == "Cancel" || name == "Request_free");
}

/// Begins the time of a call; false inside of another one.
[[nodiscard]] inline bool begin_call_time() noexcept {
  ThreadRecord* const thread = this_thread();
  if (thread == nullptr) return false;
  CallTime& time = thread->counters.call_time;
  // A call that was left by a jump has not ended; then this one is the outermost all the same.
  if (time.is_in_call() && is_called_by_a_wrapper()) [[unlikely]]
    return false;
  time.begin(ticks());
  return true;
}

inline void end_call_time() noexcept {
  this_thread()->counters.call_time.end(ticks());
}

}  // namespace fairlead::intercept
