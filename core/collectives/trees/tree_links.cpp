// SPDX-License-Identifier: Apache-2.0
// Which way the edges of a tree are used, and which hosts no shared group separates.
#include "collectives/trees/tree_links.hpp"

#include <algorithm>
#include <map>

namespace fairlead::collectives {
namespace {

constexpr double kLeastLatency_s = 1e-9;

}  // namespace

TreeLinks::TreeLinks(const Links& links, Operation operation)
    : links_(links),
      is_down_(operation != Operation::reduce),
      is_up_(operation != Operation::bcast) {}

double TreeLinks::usual_latency_s() const {
  std::vector<double> latencies_s;
  for (std::size_t parent = 0; parent < num_hosts(); ++parent) {
    for (std::size_t child = 0; child < num_hosts(); ++child) {
      if (parent != child) latencies_s.push_back(latency_s(parent, child));
    }
  }
  if (latencies_s.empty()) return kLeastLatency_s;
  const auto tenth = latencies_s.begin() + static_cast<std::ptrdiff_t>(latencies_s.size() / 10);
  std::nth_element(latencies_s.begin(), tenth, latencies_s.end());
  return std::max(kLeastLatency_s, *tenth);
}

std::vector<std::int32_t> islands_of(const Links& links) {
  const std::size_t num_hosts = links.num_hosts();
  // The groups through which a host sends, and those through which it receives.
  std::map<std::vector<std::int32_t>, std::int32_t> island_of_signature;
  std::vector<std::int32_t> island_of_host;
  const auto num_groups = static_cast<std::int32_t>(links.num_groups());
  for (std::size_t host = 0; host < num_hosts; ++host) {
    std::vector<std::int32_t> signature;
    for (std::size_t peer = 0; peer < num_hosts; ++peer) {
      for (const std::int32_t group : links.groups(host, peer)) signature.push_back(group);
      for (const std::int32_t group : links.groups(peer, host)) {
        signature.push_back(num_groups + group);
      }
    }
    std::sort(signature.begin(), signature.end());
    signature.erase(std::unique(signature.begin(), signature.end()), signature.end());
    const auto next = static_cast<std::int32_t>(island_of_signature.size());
    island_of_host.push_back(island_of_signature.try_emplace(signature, next).first->second);
  }
  return island_of_host;
}

}  // namespace fairlead::collectives
