// SPDX-License-Identifier: Apache-2.0
#include "collectives/current_network.hpp"

#include "collectives/network_now.hpp"
#include "pmpi/clock.hpp"

namespace fairlead::intercept {

void CurrentNetwork::begin(const NetworkPlan& planned, double max_stop_ratio) {
  const std::scoped_lock lock(mutex_);
  network_ = planned;
  max_stop_ratio_ = max_stop_ratio;
  begin_s_ = now_s();
}

NetworkPlan CurrentNetwork::select(std::span<const std::int32_t> hosts) const {
  const std::scoped_lock lock(mutex_);
  return network_.select(hosts);
}

NetworkPlan CurrentNetwork::select_with(std::span<const std::int32_t> hosts,
                                        const ProbedPairs& probed) const {
  const std::scoped_lock lock(mutex_);
  return updated(network_, hosts, probed).select(hosts);
}

void CurrentNetwork::keep(std::span<const std::int32_t> hosts, const ProbedPairs& probed) {
  const std::scoped_lock lock(mutex_);
  network_ = updated(network_, hosts, probed);
  ++version_;
}

int CurrentNetwork::version() const {
  const std::scoped_lock lock(mutex_);
  return version_;
}

void CurrentNetwork::add_stop(double stop_s) {
  const std::scoped_lock lock(mutex_);
  stopped_s_ += stop_s;
}

double CurrentNetwork::wait_s(double stop_s) const {
  const std::scoped_lock lock(mutex_);
  return (stopped_s_ + stop_s) / max_stop_ratio_ - (now_s() - begin_s_);
}

CurrentNetwork& current_network() {
  static CurrentNetwork* const instance = new CurrentNetwork;
  return *instance;
}

}  // namespace fairlead::intercept
