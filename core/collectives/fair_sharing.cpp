// SPDX-License-Identifier: Apache-2.0
// Spreads changed shares from resource to resource.
#include "collectives/fair_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fairlead::collectives {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
/// Rounds of spreading after one event; with a tolerance few are needed, without one they end at
/// the longest chain of bottlenecks.
constexpr int kMaxRounds = 200;
/// Weights are those of this latency over the flow's own, which counts as a nanosecond at least.
constexpr double kUnitLatency_s = 1e-4;
constexpr double kLeastLatency_s = 1e-9;

}  // namespace

FairSharing::FairSharing(const Links& links, std::size_t num_flows, double tolerance_ratio)
    : links_(links),
      tolerance_ratio_(tolerance_ratio),
      flows_(num_flows),
      max_uses_(3 + links.max_groups_of_pair()),
      uses_(num_flows * max_uses_) {
  const std::size_t num_hosts = links.num_hosts();
  resources_.resize(2 * num_hosts + links.num_groups());
  for (std::size_t host = 0; host < num_hosts; ++host) {
    resources_[host].capacity_Bps = links.out_Bps(host);
    resources_[num_hosts + host].capacity_Bps = links.in_Bps(host);
  }
  for (std::size_t group = 0; group < links.num_groups(); ++group) {
    resources_[2 * num_hosts + group].capacity_Bps = links.group_Bps(group);
  }
  for (Resource& resource : resources_) resource.share_Bps = kUnlimited;
  resource_of_pair_.assign(num_hosts * num_hosts, -1);
}

std::size_t FairSharing::resource_of_pair(std::size_t src, std::size_t dst) {
  std::int32_t& found = resource_of_pair_[src * links_.num_hosts() + dst];
  if (found < 0) {
    found = static_cast<std::int32_t>(resources_.size());
    resources_.push_back({.capacity_Bps = links_.bandwidth_Bps(src, dst),
                          .share_Bps = kUnlimited,
                          .flows = {},
                          .is_queued = false});
  }
  return static_cast<std::size_t>(found);
}

std::span<const FairSharing::Use> FairSharing::uses(std::int32_t flow) const {
  const auto index = static_cast<std::size_t>(flow);
  return std::span(uses_).subspan(index * max_uses_, flows_[index].num_uses);
}

std::span<FairSharing::Use> FairSharing::uses(std::int32_t flow) {
  const auto index = static_cast<std::size_t>(flow);
  return std::span(uses_).subspan(index * max_uses_, flows_[index].num_uses);
}

void FairSharing::add(std::int32_t index, std::size_t src, std::size_t dst) {
  Flow& flow = flows_[static_cast<std::size_t>(index)];
  const std::size_t num_hosts = links_.num_hosts();
  flow.num_uses = 0;
  flow.weight = kUnitLatency_s / std::max(kLeastLatency_s, links_.latency_s(src, dst));
  const auto use = [this, &flow, index](std::size_t resource) {
    auto& flows = resources_[resource].flows;
    const auto number = static_cast<std::int32_t>(resource);
    ++flow.num_uses;
    uses(index).back() = {.resource = number, .place = static_cast<std::int32_t>(flows.size())};
    flows.push_back(index);
    queue(number);
  };
  use(src);
  use(num_hosts + dst);
  use(resource_of_pair(src, dst));
  for (const std::int32_t group : links_.groups(src, dst)) {
    use(2 * num_hosts + static_cast<std::size_t>(group));
  }
  mark(index);
}

void FairSharing::remove(std::int32_t index) {
  for (const Use& use : uses(index)) {
    auto& flows = resources_[static_cast<std::size_t>(use.resource)].flows;
    const std::int32_t moved = flows[static_cast<std::size_t>(use.place)] = flows.back();
    flows.pop_back();
    if (moved != index) {
      const auto of_moved = uses(moved);
      std::find_if(of_moved.begin(), of_moved.end(), [&use](const Use& other) {
        return other.resource == use.resource;
      })->place = use.place;
    }
    queue(use.resource);
  }
  Flow& flow = flows_[static_cast<std::size_t>(index)];
  flow.num_uses = 0;
  flow.rate_Bps = 0.0;
}

double FairSharing::limit_elsewhere_Bps(std::int32_t flow, std::int32_t resource) const {
  double least_Bps = kUnlimited;
  for (const Use& use : uses(flow)) {
    if (use.resource == resource) continue;
    least_Bps = std::min(least_Bps, resources_[static_cast<std::size_t>(use.resource)].share_Bps);
  }
  return flows_[static_cast<std::size_t>(flow)].weight * least_Bps;
}

double FairSharing::fair_share_Bps(std::int32_t index) {
  const Resource& resource = resources_[static_cast<std::size_t>(index)];
  limits_.clear();
  double sum_weights = 0.0;
  for (const std::int32_t number : resource.flows) {
    const Flow& flow = flows_[static_cast<std::size_t>(number)];
    limits_.push_back({.rate_Bps = limit_elsewhere_Bps(number, index), .weight = flow.weight});
    sum_weights += flow.weight;
  }
  double left_Bps = resource.capacity_Bps;
  // Take out the flows that are held back elsewhere, until a fair share of the rest suits all.
  for (std::size_t num_left = limits_.size(); num_left > 0;) {
    const double share_Bps = left_Bps / sum_weights;
    std::size_t num_kept = 0;
    for (std::size_t entry = 0; entry < num_left; ++entry) {
      const Limit limit = limits_[entry];
      if (limit.rate_Bps < share_Bps * limit.weight) {
        left_Bps -= limit.rate_Bps;
        sum_weights -= limit.weight;
      } else {
        limits_[num_kept++] = limit;
      }
    }
    if (num_kept == num_left) return share_Bps;
    num_left = num_kept;
  }
  return kUnlimited;
}

bool FairSharing::is_changed(double was_Bps, double is_Bps) const {
  // An infinite rate has no share.
  if (std::isinf(was_Bps) || std::isinf(is_Bps)) return was_Bps != is_Bps;
  return std::abs(is_Bps - was_Bps) > tolerance_ratio_ * is_Bps;
}

void FairSharing::queue(std::int32_t resource) {
  Resource& queued = resources_[static_cast<std::size_t>(resource)];
  if (queued.is_queued) return;
  queued.is_queued = true;
  next_queue_.push_back(resource);
}

void FairSharing::mark(std::int32_t flow) {
  Flow& marked = flows_[static_cast<std::size_t>(flow)];
  if (marked.is_marked) return;
  marked.is_marked = true;
  marked_.push_back(flow);
}

void FairSharing::spread(std::int32_t index, double share_Bps) {
  Resource& resource = resources_[static_cast<std::size_t>(index)];
  const double before_Bps = std::exchange(resource.share_Bps, share_Bps);
  for (const std::int32_t number : resource.flows) {
    for (const Use& use : uses(number)) {
      if (use.resource == index) continue;
      // What the other resource sees of this flow: its limit elsewhere, as far as that binds.
      const double own_Bps = resources_[static_cast<std::size_t>(use.resource)].share_Bps;
      const double was_Bps = std::min(before_Bps, own_Bps);
      const double is_Bps = std::min(share_Bps, own_Bps);
      if (is_changed(was_Bps, is_Bps)) queue(use.resource);
    }
    mark(number);
  }
}

std::span<const std::int32_t> FairSharing::update() {
  for (int round = 0; round < kMaxRounds && !next_queue_.empty(); ++round) {
    std::swap(queue_, next_queue_);
    next_queue_.clear();
    for (const std::int32_t index : queue_)
      resources_[static_cast<std::size_t>(index)].is_queued = false;
    for (const std::int32_t index : queue_) {
      const Resource& resource = resources_[static_cast<std::size_t>(index)];
      const double share_Bps = fair_share_Bps(index);
      if (!is_changed(resource.share_Bps, share_Bps)) continue;
      spread(index, share_Bps);
    }
  }
  for (const std::int32_t index : next_queue_) {
    resources_[static_cast<std::size_t>(index)].is_queued = false;
  }
  next_queue_.clear();
  changed_.clear();
  for (const std::int32_t index : marked_) {
    Flow& flow = flows_[static_cast<std::size_t>(index)];
    flow.is_marked = false;
    if (flow.num_uses == 0) continue;
    const double rate_Bps = limit_elsewhere_Bps(index, -1);
    if (rate_Bps == flow.rate_Bps) continue;
    flow.rate_Bps = rate_Bps;
    changed_.push_back(index);
  }
  marked_.clear();
  return changed_;
}

}  // namespace fairlead::collectives
