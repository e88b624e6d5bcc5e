// SPDX-License-Identifier: Apache-2.0
// From two flows that share a bottleneck to all sources and destinations behind it.
#pragma once

#include <vector>

#include "network/contention/random_order.hpp"
#include "network/contention/sharing.hpp"

namespace fairlead {

/// Which hosts send and receive through one bottleneck, one truth value per host.
struct Sides {
  std::vector<bool> is_source;
  std::vector<bool> is_destination;

  /// A host on both sides: two bottlenecks look like one.
  [[nodiscard]] std::vector<int> on_both() const;
  [[nodiscard]] std::vector<int> sources() const;
  [[nodiscard]] std::vector<int> destinations() const;
  [[nodiscard]] bool has(Flow flow) const;
};

/// Classes of hosts that no bottleneck found so far separates.
class HostClasses {
 public:
  explicit HostClasses(int num_hosts) : class_of_host_(static_cast<std::size_t>(num_hosts), 0) {}

  [[nodiscard]] int operator[](int host) const {
    return class_of_host_[static_cast<std::size_t>(host)];
  }
  [[nodiscard]] int num_hosts() const { return static_cast<int>(class_of_host_.size()); }
  /// Separates the hosts on the two sides of a new bottleneck.
  void refine(const Sides& sides);
  [[nodiscard]] std::vector<std::vector<int>> members() const;

 private:
  std::vector<int> class_of_host_;
};

class GroupGrowth {
 public:
  GroupGrowth(Sharing& sharing, const HostClasses& classes, RandomOrder& random)
      : sharing_(sharing), classes_(classes), random_(random) {}

  /// Tests host after host as a source together with the seed's first flow, then as a destination.
  /// In classes that should agree only some hosts are tested, and the others if those disagree.
  /// @param seed two flows that share a bottleneck of `capacity_Bps`.
  /// @param is_expected whether the seed is the reverse direction of a known bottleneck.
  Sides grow(const FlowPair& seed, double capacity_Bps, bool is_expected);

 private:
  using Verdicts = std::vector<Verdict>;
  template <typename Test>
  void ask(std::vector<int> hosts, bool is_each_asked, Verdicts& verdicts, Test test);
  [[nodiscard]] std::size_t num_samples() const;

  Sharing& sharing_;
  const HostClasses& classes_;
  RandomOrder& random_;
};

}  // namespace fairlead
