// SPDX-License-Identifier: Apache-2.0
// The clock of the program: in a simulation it is the simulated one.
#pragma once

#include <chrono>

#include "pmpi/mpi_symbols.hpp"
#include "pmpi/simulated.hpp"

namespace fairlead::intercept {

/// Seconds since some moment in the past.
[[nodiscard]] inline double now_s() noexcept {
  if constexpr (kIsSimulated) return mpi().Wtime();
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_start).count();
}

}  // namespace fairlead::intercept
