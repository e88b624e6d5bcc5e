// SPDX-License-Identifier: Apache-2.0
// How fast two CPUs exchange data, and how fast several read memory together.
#pragma once

#include <cstdint>
#include <vector>

namespace fairlead::probe {

/// What two threads on two CPUs measured; nan where a thread could not run on its CPU.
struct CpuPairTimes {
  /// Half of a round trip of one cache line.
  double latency_s;
  /// Rate of copying data that the other CPU has just written, as a receiver does.
  double bandwidth_Bps;
};

/// Takes about 20 ms.
CpuPairTimes time_cpu_pair(int first, int second);

/// Bytes per second that threads on these CPUs read together; nan where one could not run there.
/// Takes about 20 ms and the time to fill the buffers.
/// @param bytes_of_each  larger than the caches, so that memory is read
double time_memory(const std::vector<int>& cpus, std::int64_t bytes_of_each);

}  // namespace fairlead::probe
