// SPDX-License-Identifier: Apache-2.0
// Whether the MPI sends by TCP: what the sockets of this process have carried.
#pragma once

#include <cstdint>

namespace fairlead::probe {

/// Bytes that were sent by this process, for comparison.
struct SentBytes {
  /// By calls of MPI to other processes.
  std::uint64_t by_mpi = 0;
  /// By its TCP sockets, and acknowledged. If it is far less, the MPI has another network.
  std::uint64_t by_tcp = 0;
};

/// What all TCP sockets of this process have sent so far, as far as it was acknowledged; 0 where
/// the kernel does not tell (before Linux 4.1). Closed sockets do not count. Source: tcp(7),
/// TCP_INFO.
[[nodiscard]] std::uint64_t acknowledged_tcp_bytes();

}  // namespace fairlead::probe
