// SPDX-License-Identifier: Apache-2.0
// The objectives `bottleneck_s`, `bottleneck_and_mean_s` and `slowest_rank_s`, smoothed so that
// annealing depends on more than the one busiest resource.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fairlead/mapping/compute_demand.hpp"
#include "fairlead/mapping/optimize.hpp"
#include "fairlead/mapping/placement_cost.hpp"
#include "mapping/anneal/host_times.hpp"
#include "mapping/anneal/occupancy.hpp"
#include "mapping/anneal/task_graph.hpp"
#include "mapping/cost/host_costs.hpp"

namespace fairlead::optimizing {

/// All resources, in this order: NICs out, NICs in, groups, pairs, and the inside of each host,
/// which is not part of the network; and the hosts' latencies.
class Resources {
 public:
  explicit Resources(const MeasuredNetwork& network);

  [[nodiscard]] std::int32_t num_hosts() const { return num_hosts_; }
  [[nodiscard]] std::size_t size() const { return seconds_per_byte_.size(); }
  /// The resources that one byte from `src` to `dst` uses: the pair, two NICs and groups; or a
  /// host.
  [[nodiscard]] std::span<const std::int32_t> on_way(std::int32_t src, std::int32_t dst) const {
    const auto pair = static_cast<std::size_t>(src * num_hosts_ + dst);
    return std::span(on_way_).subspan(first_[pair], first_[pair + 1] - first_[pair]);
  }
  /// Visits the hosts whose messages use a resource: of a group all of its pairs', of the inside
  /// of a host none.
  template <typename Visit>
  void for_each_host(std::int32_t resource, Visit visit) const {
    const auto first_pair = static_cast<std::int32_t>(first_pair_);
    if (resource < 2 * num_hosts_) {
      visit(resource % num_hosts_);
    } else if (resource < first_pair) {
      for (const std::int32_t host :
           hosts_of_group_[static_cast<std::size_t>(resource - 2 * num_hosts_)]) {
        visit(host);
      }
    } else if (resource < static_cast<std::int32_t>(first_inside())) {
      visit((resource - first_pair) / num_hosts_);
      visit((resource - first_pair) % num_hosts_);
    }
  }
  [[nodiscard]] std::size_t first_pair() const { return first_pair_; }
  [[nodiscard]] std::size_t first_inside() const { return first_pair_ + latency_s_.size(); }
  [[nodiscard]] double seconds_per_byte(std::int32_t resource) const {
    return seconds_per_byte_[static_cast<std::size_t>(resource)];
  }
  [[nodiscard]] double latency_s(std::int32_t src, std::int32_t dst) const {
    return latency_s_[static_cast<std::size_t>(src * num_hosts_ + dst)];
  }

 private:
  std::int32_t num_hosts_;
  std::size_t first_pair_;
  std::vector<double> seconds_per_byte_;
  std::vector<double> latency_s_;   // (H, H)
  std::vector<std::size_t> first_;  // of each pair's resources, and the end
  std::vector<std::int32_t> on_way_;
  std::vector<std::vector<std::int32_t>> hosts_of_group_;
};

/// A placement with the load of every resource. Its energy is the norm of order 8 of the loads'
/// times plus that of the ranks' latencies, close to their maxima and falling with any of the large
/// ones, plus, where the objective has it, the mean host's share of all times. Where hosts differ
/// in speed, the first two terms are those of each host, with what its ranks compute, and their
/// norm over hosts (host_times.hpp).
class BottleneckState {
 public:
  BottleneckState(const TaskGraph& bytes, const TaskGraph& messages, const Resources& resources,
                  const HostCosts& costs, BottleneckObjective objective, Occupancy occupancy,
                  const ComputeDemand& demand = {});

  [[nodiscard]] const TaskGraph& graph() const { return partners_; }
  [[nodiscard]] const Occupancy& occupancy() const { return occupancy_; }
  [[nodiscard]] std::span<const std::int32_t> near(std::int32_t host) const {
    return costs_.near(host);
  }
  /// Keeps the placement with the smallest objective so far: the minimum of the smooth energy is
  /// near it, but not at it.
  void keep_if_best();
  [[nodiscard]] const std::vector<std::int32_t>& best_host_of_task() const { return best_; }
  [[nodiscard]] double best_s() const { return best_s_; }
  [[nodiscard]] double energy_s() const { return energy_of(sums_); }

  [[nodiscard]] float swap_change(std::int32_t task, std::int32_t occupant, float limit);
  void swap(std::int32_t task, std::int32_t occupant);
  [[nodiscard]] float swap_hosts_change(std::int32_t one, std::int32_t other);
  void swap_hosts(std::int32_t one, std::int32_t other);

 private:
  /// Sums that the energy consists of, or changes of them.
  struct Sums {
    double transfer = 0.0;  ///< of eighth powers over the resources
    double latency = 0.0;   ///< the same over the latencies
    double all_s = 0.0;     ///< of all times, one after the other
    double hosts = 0.0;     ///< of the hosts' times; 0 without a demand
  };

  /// Loads that change when the tasks in `moved_` go to the hosts in `host_then_`.
  Sums collect();
  /// The changes of the hosts' times, from those of the loads.
  double collect_hosts(HostTimes& hosts);
  [[nodiscard]] double own_power_then(std::int32_t host) const;
  [[nodiscard]] double task_time_then_s(std::int32_t task, double seconds_per_work) const;
  [[nodiscard]] double slowest_host_s() const;
  void clear_step();
  void apply();
  void add_load(std::int32_t src, std::int32_t dst, double bytes);
  void change(std::int32_t place, double seconds);
  void add_latency(std::int32_t src_task, std::int32_t dst_task, double seconds);
  void move(std::int32_t occupant, std::int32_t host);
  [[nodiscard]] std::int32_t host_then(std::int32_t task) const {
    const std::int32_t host = host_then_[static_cast<std::size_t>(task)];
    return host >= 0 ? host : occupancy_.host_of(task);
  }
  /// Adds the contribution of a load to the sums, or that of a change of it.
  void count(std::size_t place, double before_s, double after_s, Sums& sums) const;
  [[nodiscard]] Sums after(const Sums& change) const;
  [[nodiscard]] double energy_of(const Sums& sums) const;
  void sum_up();
  void sum_up_hosts(HostTimes& hosts);

  const TaskGraph& bytes_;
  const TaskGraph& messages_;
  const TaskGraph& partners_;
  const Resources& resources_;
  const HostCosts& costs_;
  const double mean_share_;  // of all times that count; see PlacementCost::bottleneck_and_mean_s
  Occupancy occupancy_;
  std::vector<double> load_s_;    // of each resource, then sent and received latencies per task
  std::vector<double> change_s_;  // of a step under way; zero in between
  std::vector<char> is_touched_;
  std::vector<std::int32_t> touched_;
  std::vector<std::int32_t> moved_;
  std::vector<std::int32_t> host_then_;  // -1: stays
  const ComputeDemand demand_;
  std::optional<HostTimes> hosts_;  // where there is a demand
  Sums sums_;
  std::int32_t num_since_sum_ = 0;
  double best_energy_s_ = std::numeric_limits<double>::infinity();
  double best_s_ = std::numeric_limits<double>::infinity();
  std::vector<std::int32_t> best_;
};

}  // namespace fairlead::optimizing
