// SPDX-License-Identifier: Apache-2.0
// One host's part in a step of the contention probe: it sends and receives several flows at once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <list>
#include <vector>

#include "control_channel.hpp"
#include "flows/flow_order.hpp"

namespace fairlead::probe {

/// Carries out orders, one after another. A flow without progress for the silence timeout is
/// given up; the others continue.
class FlowRunner {
 public:
  /// @param yields whether to sleep while nothing arrives, for hosts with more processes than
  ///   cores.
  FlowRunner(MPI_Comm comm, double silence_timeout_s, ControlChannel& control, bool yields);

  FlowReport run(const FlowOrder& order);

  /// If an order of rank 0 has arrived, carries it out and reports.
  void serve();

  /// Whether a flow was given up; MPI then has messages that will never be received.
  [[nodiscard]] bool has_given_up() const { return has_given_up_; }

 private:
  [[nodiscard]] std::vector<std::byte>& buffer(std::size_t bytes);

  MPI_Comm comm_;
  double silence_timeout_s_;
  ControlChannel& control_;
  bool yields_;
  bool has_given_up_ = false;
  // Kept for the whole run: an abandoned request may still read or write them.
  std::list<std::vector<std::byte>> buffers_;
  std::list<FlowReport> reports_;
};

}  // namespace fairlead::probe
