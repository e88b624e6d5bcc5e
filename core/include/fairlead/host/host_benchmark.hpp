// SPDX-License-Identifier: Apache-2.0
// Measures how fast the host computes on which it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fairlead/host/array_bytes.hpp"
#include "fairlead/host/host_rates.hpp"

namespace fairlead {

/// Threads that measure together. All time counts from the first slice to the last, whether threads
/// run or not: where a quota or other processes stop them, ranks will be stopped, too.
class HostBenchmark {
 public:
  /// Starts the threads and fills the arrays. They stay between passes: on a host with many CPUs,
  /// starting threads takes as long as a slice.
  /// @param num_threads  for the rates of all cores, >= 1; the caller is the first of them
  /// @param arrays  none: memory is not measured, and its rates are nan
  /// @param longest_fill_s  what is filled until then counts, if it is large enough
  /// @throws std::system_error  a limit of the user leaves no room for so many threads
  HostBenchmark(int num_threads, const std::optional<ArrayBytes>& arrays, double longest_fill_s);
  ~HostBenchmark();
  HostBenchmark(HostBenchmark&&) noexcept;
  HostBenchmark& operator=(HostBenchmark&&) noexcept;

  /// A slice of each rate. Where a quota stops the last thread, the slice lasts until it runs
  /// again.
  [[nodiscard]] HostPass pass(double slice_s);

 private:
  enum class Work : std::uint8_t;
  class Worker;
  class Threads;
  std::unique_ptr<Threads> threads_;
  bool has_memory_;
};

}  // namespace fairlead
