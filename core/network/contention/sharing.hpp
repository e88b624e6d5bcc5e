// SPDX-License-Identifier: Apache-2.0
// Whether two flows share a bottleneck: their rates together and alone.
#pragma once

#include <array>

#include "network/contention/flow_steps.hpp"

namespace fairlead {

/// Two flows between four different hosts, so that no interface is shared.
struct FlowPair {
  Flow first;
  Flow second;

  [[nodiscard]] std::array<Flow, 2> both() const { return {first, second}; }
  [[nodiscard]] bool is_disjoint() const {
    return first.src != second.src && first.src != second.dst && first.dst != second.src &&
           first.dst != second.dst;
  }
};

enum class Verdict {
  shared,
  apart,
  unknown,  ///< They are too slow to fill the bottleneck, or a host did not answer.
};

/// The rates of one comparison.
struct Comparison {
  double alone_Bps;     ///< the two rates alone, added
  double together_Bps;  ///< both at a time
};

class Sharing {
 public:
  Sharing(FlowSteps& steps, bool is_one_machine) : steps_(steps), is_one_machine_(is_one_machine) {}

  /// Whether two flows share any bottleneck: one measurement, and if they seem to, repeated ones,
  /// alone and together in turns, until one answer leads.
  /// @return the capacity, or nan if they do not.
  double shared_capacity_Bps(const FlowPair& flows);

  /// Whether two flows share the bottleneck of this capacity.
  Verdict share(const FlowPair& flows, double capacity_Bps);

  /// Whether two flows that share this capacity look the same as two that do not.
  [[nodiscard]] static bool is_too_slow(double alone_Bps, double capacity_Bps);

  /// One round, alone and together in turns.
  Comparison compare(const FlowPair& flows, Precision precision = Precision::glance);
  /// Whether a round shows a bottleneck that neither chance nor the machine's processor explains.
  bool is_bottleneck(const Comparison& seen);

 private:
  FlowSteps& steps_;
  bool is_one_machine_;
};

}  // namespace fairlead
