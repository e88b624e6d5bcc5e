// SPDX-License-Identifier: Apache-2.0
// The network as the edges of a tree use it: towards the leaves, towards the root, or both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/links.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace fairlead::collectives {

/// What an edge parent -> child costs and uses, for bcast, reduce or allreduce.
class TreeLinks {
 public:
  TreeLinks(const Links& links, Operation operation);

  [[nodiscard]] std::size_t num_hosts() const { return links_.num_hosts(); }

  /// Both ways for allreduce.
  [[nodiscard]] double latency_s(std::size_t parent, std::size_t child) const {
    double sum_s = 0.0;
    if (is_down_) sum_s += links_.latency_s(parent, child);
    if (is_up_) sum_s += links_.latency_s(child, parent);
    return sum_s;
  }

  /// Bandwidth of one flow alone; of the slower direction for allreduce.
  [[nodiscard]] double bandwidth_Bps(std::size_t parent, std::size_t child) const {
    if (!is_up_) return links_.bandwidth_Bps(parent, child);
    const double up_Bps = links_.bandwidth_Bps(child, parent);
    return is_down_ ? std::min(up_Bps, links_.bandwidth_Bps(parent, child)) : up_Bps;
  }

  /// What a host can pass on to children when `message_Bps` of the message flow through it.
  [[nodiscard]] double capacity_Bps(std::size_t host, double message_Bps) const {
    const double out_Bps = links_.out_Bps(host);
    const double in_Bps = links_.in_Bps(host);
    if (!is_up_) return out_Bps;
    return is_down_ ? std::min(out_Bps, in_Bps) - message_Bps : in_Bps;
  }

  /// The latency that one pair in ten has at most: edges of a tree are among the shorter ones.
  [[nodiscard]] double usual_latency_s() const;

  template <typename Visit>
  void for_each_group(std::size_t parent, std::size_t child, Visit&& visit) const {
    if (is_down_) {
      for (const std::int32_t group : links_.groups(parent, child)) visit(group);
    }
    if (is_up_) {
      for (const std::int32_t group : links_.groups(child, parent)) visit(group);
    }
  }

  [[nodiscard]] bool is_both_ways() const { return is_up_ && is_down_; }
  [[nodiscard]] const Links& links() const { return links_; }

 private:
  const Links& links_;
  bool is_down_, is_up_;
};

/// Island of each host: hosts between which no shared group lies and whose pairs with all others
/// share the same groups. All hosts are one island where there are no groups.
[[nodiscard]] std::vector<std::int32_t> islands_of(const Links& links);

}  // namespace fairlead::collectives
