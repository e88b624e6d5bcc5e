// SPDX-License-Identifier: Apache-2.0
#include "routing/path_rules.hpp"

#include <algorithm>
#include <utility>

#include "routing/mcm_rule.hpp"
#include "routing/trial_rule.hpp"
#include "wire/frame.hpp"

namespace fairlead::relay {
namespace {

// A router opens at most this many to all others, and accepts as many from them. Together that is
// half of the connections that a router keeps for a job (Router::kMaxConnectionsOfJob). The other
// half is for paths by relays.
constexpr std::size_t kMaxConnectionsOfHost = 1024;

ModeRates planned_rates(const std::vector<HostPath>& paths, double capacity_Bps) {
  double rate_Bps = 0.0;
  double latency_s = 0.0;
  for (const HostPath& path : paths) {
    if (path.connection > 0) continue;
    rate_Bps += path.bandwidth_Bps;
    latency_s = std::max(latency_s, path.latency_s);
  }
  const ModeRate striped(std::min(rate_Bps, capacity_Bps), latency_s);
  if (paths.empty()) return {striped, striped};
  ModeRates planned{{paths.front().bandwidth_Bps, paths.front().latency_s}, striped};
  // No gain is expected of further connections before they are tried: most networks limit pairs of
  // hosts or interfaces, not connections.
  const auto is_further = [](const HostPath& path) { return path.connection > 0; };
  if (std::ranges::any_of(paths, is_further)) planned.parallel = planned.direct;
  // The plan lists the best path first.
  const auto best = std::ranges::find_if_not(paths, &HostPath::is_direct);
  if (best != paths.end()) planned.relayed = ModeRate(best->bandwidth_Bps, best->latency_s);
  return planned;
}

}  // namespace

std::optional<RuleName> parse_rule_name(std::string_view text) {
  if (text == "trials") return RuleName::trials;
  if (text == "mcm") return RuleName::mcm;
  return std::nullopt;
}

std::vector<HostPath> with_connections(RuleName name, std::vector<HostPath> planned,
                                       std::size_t num_hosts) {
  if (planned.empty() || name != RuleName::trials) return planned;
  const std::size_t num_connections = std::min<std::size_t>(
      kMaxConnections, kMaxConnectionsOfHost / std::max<std::size_t>(num_hosts, 1));
  HostPath further = planned.front();
  while (++further.connection < num_connections) planned.push_back(further);
  return planned;
}

std::unique_ptr<PathRule> make_trial_rule(const std::vector<HostPath>& paths, double capacity_Bps,
                                          Time now, bool is_rehearsal) {
  return std::make_unique<TrialRule>(planned_rates(paths, capacity_Bps), now, is_rehearsal);
}

std::unique_ptr<PathRule> make_mcm_rule(const std::vector<HostPath>& paths, const Zones& zones,
                                        std::shared_ptr<const LinkTable> links, std::uint16_t host,
                                        std::uint32_t seed) {
  return std::make_unique<McmRule>(paths, zones, std::move(links), host, seed);
}

}  // namespace fairlead::relay
