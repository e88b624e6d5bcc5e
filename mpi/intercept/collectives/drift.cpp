// SPDX-License-Identifier: Apache-2.0
#include "collectives/drift.hpp"

#include <array>

#include "collectives/network_now.hpp"
#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

AgreedTimes agree_on_times(fairlead::collectives::Members& members,
                           fairlead::collectives::Operation operation, const OwnTimes& own) {
  // Of all values the largest; what is to be the smallest is negative.
  const double sign = fairlead::collectives::has_root(operation) ? 1.0 : -1.0;
  // Of agreements the shortest: the others have waited for a rank that came late.
  std::array values{sign * own.call_s, -own.agreement_s, own.wait_s, own.is_outdated ? 1.0 : 0.0};
  require_success(mpi().Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                                  double_type(), op_max(), members.comm()));
  return {.call_s = sign * values[0],
          .agreement_s = -values[1],
          .may_probe = values[2] <= 0,
          .is_outdated = values[3] > 0};
}

void CurrentNetwork::begin(const NetworkPlan& planned) {
  const std::scoped_lock lock(mutex_);
  network_ = planned;
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

void CurrentNetwork::note_probe(double pause_s) {
  const std::scoped_lock lock(mutex_);
  next_probe_s_ = now_s() + pause_s / kMaxProbeRatio;
}

double CurrentNetwork::wait_s() const {
  const std::scoped_lock lock(mutex_);
  return next_probe_s_ - now_s();
}

CurrentNetwork& current_network() {
  static CurrentNetwork* const instance = new CurrentNetwork;
  return *instance;
}

}  // namespace fairlead::intercept
