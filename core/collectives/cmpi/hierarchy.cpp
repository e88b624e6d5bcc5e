// SPDX-License-Identifier: Apache-2.0
// CMPI's Algorithm 1: groups of hosts level by level, until one is left.
#include "fairlead/collectives/hierarchy.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "collectives/cmpi/discretisation.hpp"
#include "collectives/cmpi/grouping.hpp"
#include "collectives/links.hpp"
#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

void check_options(const HierarchyOptions& options) {
  if (!(options.factor > 0.0) || !std::isfinite(options.factor)) {
    throw InputError("hierarchy: k: must be finite and > 0, got " + std::to_string(options.factor));
  }
  if (options.max_span < 0) {
    throw InputError("hierarchy: max_span: must be >= 0, got " + std::to_string(options.max_span));
  }
}

/// Section 4.1: M, before it is discretised. Pairs alone count, as the paper measures them.
std::vector<double> transfer_matrix_s(const MeasuredNetwork& network, double message_bytes) {
  const std::size_t num_hosts = network.latency_s.num_hosts;
  std::vector<double> transfer_s(num_hosts * num_hosts, 0.0);
  for (std::size_t pair = 0; pair < transfer_s.size(); ++pair) {
    if (pair % (num_hosts + 1) == 0) continue;
    transfer_s[pair] =
        network.latency_s.values[pair] + message_bytes / network.bandwidth_Bps.values[pair];
  }
  return transfer_s;
}

double latency_asymmetry(const MeasuredNetwork& network, double factor) {
  const std::size_t num_hosts = network.latency_s.num_hosts;
  return asymmetric_ratio(discretised(network.latency_s.values, num_hosts, factor), num_hosts);
}

/// By the time of a byte: its least value is that of the highest bandwidth, the paper's base.
double bandwidth_asymmetry(const MeasuredNetwork& network, double factor) {
  const std::size_t num_hosts = network.bandwidth_Bps.num_hosts;
  std::vector<double> byte_s;
  for (const double pair_Bps : network.bandwidth_Bps.values) byte_s.push_back(1.0 / pair_Bps);
  return asymmetric_ratio(discretised(byte_s, num_hosts, factor), num_hosts);
}

std::vector<std::int32_t> group_of_host(const std::vector<Members>& groups, std::size_t num_hosts) {
  std::vector<std::int32_t> found(num_hosts);
  for (std::size_t number = 0; number < groups.size(); ++number) {
    for (const std::size_t host : groups[number]) found[host] = static_cast<std::int32_t>(number);
  }
  return found;
}

}  // namespace

Hierarchy build_hierarchy(const MeasuredNetwork& network, const HierarchyOptions& options) {
  check_options(options);
  const std::size_t num_hosts = Links(network).num_hosts();  // refuses pairs not measured
  Hierarchy hierarchy;
  hierarchy.transfer_s = transfer_matrix_s(network, options.message_bytes);
  hierarchy.level_of_pair = discretised(hierarchy.transfer_s, num_hosts, options.factor);
  hierarchy.latency_asymmetry_ratio = latency_asymmetry(network, options.factor);
  hierarchy.bandwidth_asymmetry_ratio = bandwidth_asymmetry(network, options.factor);
  std::vector<Members> groups;
  for (std::size_t host = 0; host < num_hosts; ++host) groups.push_back({host});
  while (groups.size() > 1) {
    groups = group_hosts(hierarchy.level_of_pair, groups, options.max_span);
    hierarchy.group_of_host.push_back(group_of_host(groups, num_hosts));
  }
  if (hierarchy.group_of_host.empty()) hierarchy.group_of_host.push_back({0});
  return hierarchy;
}

std::int32_t distance(const Hierarchy& hierarchy, std::int32_t host, std::int32_t peer) {
  if (host == peer) return 0;
  std::int32_t level = 1;
  for (const auto& group_of_host : hierarchy.group_of_host) {
    if (group_of_host[static_cast<std::size_t>(host)] ==
        group_of_host[static_cast<std::size_t>(peer)]) {
      break;
    }
    ++level;
  }
  return level;
}

}  // namespace fairlead::collectives
