// SPDX-License-Identifier: Apache-2.0
// How rank 0 makes the hosts run flows together, one step after another.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "fairlead/network/contention.hpp"
#include "flows/flow_runner.hpp"
#include "pairs/rendezvous.hpp"

namespace fairlead::probe {

/// Orders steps and collects the reports. Every wait is bounded by the silence timeout; a host or a
/// path that fails once is not used again.
class StepRunner {
 public:
  /// @param options give the expected rate of pairs whose own is unknown.
  /// @param outcome of the pairs: the expected rates of flows, and the silent hosts.
  /// @param end_s time after which no step begins.
  StepRunner(MPI_Comm comm, const Options& options, const Outcome& outcome, double end_s,
             ControlChannel& control, FlowRunner& runner);

  /// Runs flows together; see `MeasureFlows`.
  std::optional<std::vector<double>> measure(std::span<const Flow> flows, Precision precision);

  [[nodiscard]] bool is_orderly() const { return is_orderly_; }

 private:
  struct Sent {
    FlowOrder order;
    MPI_Request request;
  };

  [[nodiscard]] std::vector<double> run(std::span<const Flow> flows, Precision precision);
  [[nodiscard]] bool is_dead(Flow flow) const;
  [[nodiscard]] std::int64_t message_bytes(Flow flow) const;
  void add_end(int rank, const FlowEnd& end, const FlowTiming& timing);
  void send_orders();
  void gather_reports();
  [[nodiscard]] bool take_report(int src);
  void show_progress();

  MPI_Comm comm_;
  int num_ranks_;
  double end_s_;
  double usual_Bps_;
  ControlChannel& control_;
  FlowRunner& runner_;
  std::vector<double> bandwidth_Bps_;  // [src, dst], nan where unknown
  std::set<int> dead_hosts_;
  std::set<Flow> dead_flows_;
  bool is_orderly_ = true;
  int step_ = 0;
  double shown_s_ = 0;
  // Those of the step under way, by rank. A list: an order must not move while it is sent.
  std::map<int, FlowOrder> orders_;
  std::map<int, FlowReport> reports_;
  std::list<Sent> sent_;
};

}  // namespace fairlead::probe
