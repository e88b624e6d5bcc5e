// SPDX-License-Identifier: Apache-2.0
// How often a quota of a cgroup has stopped this process.
#pragma once

#include <cstdint>

namespace fairlead::probe {

/// Periods so far in which the quota of this process's cgroup, or of one above it, was used up; 0
/// where the kernel does not show it. Source: Documentation/scheduler/sched-bwc.rst, nr_throttled.
[[nodiscard]] std::int64_t num_throttled_periods();

}  // namespace fairlead::probe
