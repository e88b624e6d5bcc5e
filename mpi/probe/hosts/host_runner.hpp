// SPDX-License-Identifier: Apache-2.0
// How fast each host computes, measured in a step of its own while no message is on its way.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "control_channel.hpp"
#include "fairlead/host/host_benchmark.hpp"
#include "fairlead/host/host_rates.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// What rank 0 asks of another: passes over its rates. The first order of a host has none, and
/// prepares them; the last one frees what was prepared.
struct HostOrder {
  double slice_s;
  /// Hosts that share the memory of their machine.
  std::int32_t num_sharing;
  std::int32_t num_passes;
  std::int32_t is_last;
};

/// All passes of one order.
struct HostReport {
  std::int32_t num_cores = 0;
  std::int32_t num_passes = 0;
  /// Periods in which a quota was used up meanwhile.
  std::int64_t num_throttled = 0;
  std::array<HostPass, kNumHostPasses> passes{};
};

/// Rates of one host.
struct MeasuredHost {
  int num_cores;
  std::array<RateEstimate, kNumHostRates> rates;
};

/// Measures this process's host when rank 0 orders it, on all CPUs of the job; at rank 0 it gives
/// the orders.
class HostRunner {
 public:
  HostRunner(MPI_Comm comm, ControlChannel& control) : comm_(comm), control_(control) {}

  /// Rank 0 measures all hosts: at the same time, or one after the other where they share a
  /// machine, and then pass by pass, so that what else runs on it meets all of them.
  /// @return of each rank's host; none where it did not answer
  [[nodiscard]] std::vector<std::optional<MeasuredHost>> conduct(const Outcome& outcome,
                                                                 bool shares_machine);
  /// The others look for an order, and carry it out.
  void serve();
  /// Whether all ranks have answered.
  [[nodiscard]] bool is_orderly() const { return is_orderly_; }

 private:
  [[nodiscard]] HostReport carry_out(const HostOrder& order);
  /// Lets these ranks prepare their passes, or end them, at the same time.
  void order_without_passes(std::span<const int> ranks, const HostOrder& order,
                            std::size_t num_ranks);
  /// Measures these ranks' hosts with slices of this length.
  [[nodiscard]] std::vector<HostReport> measure_all(std::span<const int> ranks, HostOrder order,
                                                    std::size_t num_ranks);
  /// Orders passes of these ranks at the same time, and adds what they report to `reports`.
  void measure(std::span<const int> ranks, const HostOrder& order,
               std::vector<HostReport>& reports);
  void send(int rank, const HostOrder& order);
  [[nodiscard]] std::optional<HostReport> receive(int src);

  MPI_Comm comm_;
  ControlChannel& control_;
  std::optional<HostBenchmark> benchmark_;
  std::list<HostOrder> orders_;    // a list: what is sent must not move
  std::list<HostReport> reports_;  // likewise, and what is received
  std::set<int> silent_ranks_;     // they get no further orders
  bool is_orderly_ = true;
};

}  // namespace fairlead::probe
