// SPDX-License-Identifier: Apache-2.0
// The key, the routers, and the paths between hosts.
#include "relay/relay_plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "json/value.hpp"
#include "routing/path_rules.hpp"
#include "wire/frame.hpp"

namespace fairlead::intercept::relay {

using fairlead::relay::PathUse;
namespace {

std::vector<std::string> texts(const json::Value& value, std::size_t num_hosts) {
  std::vector<std::string> found;
  for (const json::Value& item : value.items()) found.push_back(item.text());
  if (found.size() != num_hosts) value.refuse("expected one of each host");
  return found;
}

PathUse parse_use(const json::Value& value) {
  const std::string text = value.text();
  if (text == "found") return PathUse::found;
  if (text == "open") return PathUse::open;
  if (text != "standard") value.refuse("expected found, open or standard");
  return PathUse::standard;
}

void parse_path(const json::Value& value, RelayPlan& plan) {
  value.allow_only({"src", "hops", "latency_s", "bandwidth_Bps", "use"});
  const auto last = static_cast<std::int64_t>(plan.network.num_hosts()) - 1;
  const auto src = static_cast<std::size_t>(value.at("src").whole_number(0, last));
  HostPath path;
  for (const std::int64_t hop : value.at("hops").whole_numbers(0, last)) {
    path.hops.push_back(static_cast<std::uint16_t>(hop));
  }
  if (path.hops.empty() || path.hops.size() > fairlead::relay::kMaxHops) {
    value.at("hops").refuse("expected 1 to 4 hosts");
  }
  path.latency_s = value.at("latency_s").number(json::Allowed::positive);
  path.bandwidth_Bps = value.at("bandwidth_Bps").number(json::Allowed::positive);
  if (const auto use = value.find("use")) path.use = parse_use(*use);
  auto& paths = plan.paths[src][path.hops.back()];
  if (paths.empty() != path.is_direct()) value.refuse("expected the direct path first, once");
  paths.push_back(std::move(path));
}

void parse_rule(const json::Value& root, RelayPlan& plan) {
  const auto rule = fairlead::relay::parse_rule_name(root.at("rule").text());
  if (!rule) root.at("rule").refuse("expected trials or mcm");
  plan.rule = *rule;
  const json::Value zones = root.at("zones");
  const std::vector<double> ratios = zones.numbers(json::Allowed::positive);
  if (ratios.size() != 2 || ratios[0] < 1.0 || ratios[1] < ratios[0]) {
    zones.refuse("expected two ratios from 1, the larger one last");
  }
  plan.zones = {.medium_ratio = ratios[0], .high_ratio = ratios[1]};
}

void parse_links(const json::Value& rows, RelayPlan& plan) {
  const std::size_t num_hosts = plan.network.num_hosts();
  for (const json::Value& row : rows.items()) {
    plan.segment_s_of_link.push_back(row.numbers(json::Allowed::positive_or_null));
    if (plan.segment_s_of_link.back().size() != num_hosts) row.refuse("expected one of each host");
  }
  const std::size_t num_rows = plan.rule == RuleName::mcm ? num_hosts : 0;
  if (plan.segment_s_of_link.size() != num_rows) {
    rows.refuse("expected a row of each host with the rule mcm, else none");
  }
}

}  // namespace

RelayPlan parse_relay_plan(const PlanFile& network, const PlanFile& relay) {
  RelayPlan plan{.network = parse_network_plan(network)};
  const std::size_t num_hosts = plan.network.num_hosts();
  const json::Document document(relay.name, relay.text);
  const json::Value root = document.root();
  root.require_format("fairlead-relay", 3);
  root.allow_only({"format", "version", "key", "threshold_bytes", "is_forced", "is_rehearsal",
                   "rule", "zones", "sockets", "addresses", "capacity_Bps", "segment_s", "routes"});
  const auto key = fairlead::relay::parse_key(root.at("key").text());
  if (!key) root.at("key").refuse("expected 64 hexadecimal digits");
  plan.key = *key;
  plan.threshold_bytes = static_cast<std::uint64_t>(
      root.at("threshold_bytes").whole_number(0, std::numeric_limits<std::int64_t>::max()));
  plan.is_forced = root.at("is_forced").truth();
  if (const auto rehearsal = root.find("is_rehearsal")) plan.is_rehearsal = rehearsal->truth();
  parse_rule(root, plan);
  plan.socket_of_host = texts(root.at("sockets"), num_hosts);
  plan.address_of_host = texts(root.at("addresses"), num_hosts);
  for (const json::Value& row : root.at("capacity_Bps").items()) {
    plan.capacity_Bps.push_back(row.numbers(json::Allowed::positive_or_null));
    if (plan.capacity_Bps.back().size() != num_hosts) row.refuse("expected one of each host");
  }
  if (plan.capacity_Bps.size() != num_hosts) {
    root.at("capacity_Bps").refuse("expected a row of each host");
  }
  parse_links(root.at("segment_s"), plan);
  plan.paths.assign(num_hosts, std::vector<std::vector<HostPath>>(num_hosts));
  for (const json::Value& item : root.at("routes").items()) parse_path(item, plan);
  return plan;
}

}  // namespace fairlead::intercept::relay
