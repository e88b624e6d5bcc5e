// SPDX-License-Identifier: Apache-2.0
// Finds shared capacities: that of each host's interface, and pairs behind one bottleneck.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/network/median_interval.hpp"

namespace fairlead {

/// Data sent from one host to another, as fast as the network takes it.
struct Flow {
  int src;
  int dst;

  friend auto operator<=>(const Flow&, const Flow&) = default;
};

/// How long the flows of a step run.
enum class Precision {
  glance,  ///< Long enough to distinguish half a rate from a whole one.
  exact,   ///< Long enough to measure a rate.
};

/// Runs flows at the same time.
/// @return the rate of each in bytes per second, nan if a host did not answer; nothing when no
///   further step is possible.
using MeasureFlows =
    std::function<std::optional<std::vector<double>>(std::span<const Flow>, Precision)>;

struct ContentionOptions {
  /// Whether the hosts are containers of one machine. Its processor then limits flows as well, and
  /// a bottleneck is reported only if other flows carried more at the same time.
  bool is_one_machine = false;
  /// Most flows of one host at a time, when its interface is filled.
  int max_nic_flows = 8;
  std::uint64_t seed = 0;
};

/// Directed pairs behind one bottleneck: each of the sources with each of the destinations.
struct BottleneckGroup {
  std::vector<int> sources;       ///< ascending, at least two
  std::vector<int> destinations;  ///< ascending, at least two, none of the sources
  MedianEstimate capacity_Bps;    ///< total rate of its pairs
  double confidence_ratio = 0;    ///< that they share it, 0 to 1
};

struct ContentionFindings {
  std::vector<BottleneckGroup> groups;
  std::vector<double> nic_out_Bps;  ///< the most that each host sent, nan where unmeasured
  std::vector<double> nic_in_Bps;   ///< the most that each host received
  int num_steps = 0;                ///< calls of `measure`
  bool is_complete = true;          ///< false where `measure` ended it
};

/// Infers shared capacities from flows that run alone and together.
/// @param num_hosts at least 1; no group can be seen with fewer than 4.
/// @param measure called for one step after another; the flows of a step are distinct.
ContentionFindings find_contention(int num_hosts, const MeasureFlows& measure,
                                   const ContentionOptions& options = {});

/// What each host's interface carries at least, without a search for groups: in a few steps all
/// hosts send to several others and receive from as many. Where something else was full first, an
/// interface may carry more.
/// @param measure as of `find_contention`.
/// @param max_flows most flows of one host at a time, in and out.
/// @return nothing but nan with fewer than 3 hosts, where no host has two partners.
ContentionFindings find_interfaces(int num_hosts, const MeasureFlows& measure, int max_flows = 8);

}  // namespace fairlead
