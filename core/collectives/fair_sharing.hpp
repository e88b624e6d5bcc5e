// SPDX-License-Identifier: Apache-2.0
// Max-min fair rates of flows that come and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/links.hpp"

namespace fairlead::collectives {

/// Rates of the flows under way through NICs, pairs and groups. Each resource keeps the rate that
/// it can give to those flows which nothing else limits; a change spreads from resource to
/// resource until nothing changes by more than the tolerance.
///
/// Source: Charny, Clark, Jain 1995, "Congestion control with explicit rate indication", where the
/// resources do the same by messages and provably end at the max-min fair rates.
class FairSharing {
 public:
  FairSharing(const Links& links, std::size_t num_flows, double tolerance_ratio);

  void add(std::int32_t flow, std::size_t src, std::size_t dst);
  void remove(std::int32_t flow);

  /// Flows whose rate has changed since the last call; valid until the next one.
  std::span<const std::int32_t> update();

  [[nodiscard]] double rate_Bps(std::int32_t flow) const {
    return flows_[static_cast<std::size_t>(flow)].rate_Bps;
  }

 private:
  struct Flow {
    double rate_Bps = 0.0;
    double weight = 1.0;  // of its share
    std::uint32_t num_uses = 0;
    bool is_marked = false;
  };

  /// A resource of a flow, and the flow's place in the resource's list.
  struct Use {
    std::int32_t resource = 0;
    std::int32_t place = 0;
  };

  /// What holds a flow back elsewhere.
  struct Limit {
    double rate_Bps;
    double weight;
  };

  struct Resource {
    double capacity_Bps = 0.0;
    double share_Bps = 0.0;  // of each flow that nothing else holds back, over its weight
    std::vector<std::int32_t> flows;
    bool is_queued = false;
  };

  /// The resource that flows of one pair share; made when the first of them comes.
  [[nodiscard]] std::size_t resource_of_pair(std::size_t src, std::size_t dst);
  [[nodiscard]] std::span<const Use> uses(std::int32_t flow) const;
  [[nodiscard]] std::span<Use> uses(std::int32_t flow);
  [[nodiscard]] double limit_elsewhere_Bps(std::int32_t flow, std::int32_t resource) const;
  [[nodiscard]] double fair_share_Bps(std::int32_t resource);
  [[nodiscard]] bool is_changed(double was_Bps, double is_Bps) const;
  void queue(std::int32_t resource);
  void mark(std::int32_t flow);
  void spread(std::int32_t resource, double share_Bps);

  const Links& links_;
  double tolerance_ratio_;
  std::vector<Flow> flows_;
  std::size_t max_uses_;                          // of a flow: two NICs, the pair, and its groups
  std::vector<Use> uses_;                         // max_uses_ of each flow
  std::vector<Resource> resources_;               // NICs out, NICs in, groups, pairs
  std::vector<std::int32_t> resource_of_pair_{};  // (H, H), -1 where there is none yet
  std::vector<std::int32_t> queue_, next_queue_, marked_, changed_;
  std::vector<Limit> limits_;
};

}  // namespace fairlead::collectives
