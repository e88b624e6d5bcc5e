// SPDX-License-Identifier: Apache-2.0
// Reads the plan's network, and looks a process's names up in it.
#include "plan/network_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "json/value.hpp"

namespace fairlead::intercept {
namespace {

constexpr std::size_t kMaxHosts = 65536;

std::vector<std::vector<std::string>> read_names(const json::Value& hosts) {
  if (hosts.num_items() < 1 || hosts.num_items() > kMaxHosts) {
    hosts.refuse("expected from 1 to " + std::to_string(kMaxHosts) + " hosts, got " +
                 std::to_string(hosts.num_items()));
  }
  std::vector<std::vector<std::string>> names_of_host;
  for (const json::Value& host : hosts.items()) {
    if (host.num_items() == 0) host.refuse("a name is missing");
    std::vector<std::string>& names = names_of_host.emplace_back();
    for (const json::Value& name : host.items()) names.push_back(name.text());
  }
  return names_of_host;
}

void require_size(const json::Value& list, std::size_t size) {
  if (list.num_items() == size) return;
  list.refuse("expected a list of length " + std::to_string(size) + ", got one of " +
              std::to_string(list.num_items()));
}

std::vector<double> read_matrix(const json::Value& rows, std::size_t num_hosts,
                                json::Allowed allowed) {
  require_size(rows, num_hosts);
  std::vector<double> matrix;
  matrix.reserve(num_hosts * num_hosts);
  for (const json::Value& row : rows.items()) {
    require_size(row, num_hosts);
    const std::vector<double> values = row.numbers(allowed);
    matrix.insert(matrix.end(), values.begin(), values.end());
  }
  return matrix;
}

/// One rate for each host, `nan` for a null; none where none is known.
std::vector<double> read_rates(const json::Value& list, std::size_t num_hosts) {
  if (list.num_items() == 0) return {};
  require_size(list, num_hosts);
  std::vector<double> rates = list.numbers(json::Allowed::positive_or_null);
  for (double& rate : rates) {
    if (std::isinf(rate)) rate = std::numeric_limits<double>::quiet_NaN();
  }
  return rates;
}

BottleneckGroups read_groups(const json::Value& list, std::size_t num_hosts) {
  BottleneckGroups groups;
  for (const json::Value& group : list.items()) {
    group.allow_only({"capacity_Bps", "pairs"});
    const auto number = static_cast<std::int64_t>(groups.capacity_Bps.size());
    groups.capacity_Bps.push_back(group.at("capacity_Bps").number(json::Allowed::positive));
    for (const json::Value& pair : group.at("pairs").items()) {
      require_size(pair, 2);
      const auto hosts = pair.whole_numbers(0, static_cast<std::int64_t>(num_hosts) - 1);
      if (hosts[0] == hosts[1]) pair.refuse("expected two different hosts");
      groups.group_of_pair.push_back(number);
      groups.src_of_pair.push_back(hosts[0]);
      groups.dst_of_pair.push_back(hosts[1]);
    }
  }
  return groups;
}

std::string_view first_label(std::string_view name) {
  return name.substr(0, std::min(name.find('.'), name.size()));
}

// An address is no name with labels.
bool has_labels(std::string_view name) {
  return name.find_first_not_of("0123456789.") != std::string_view::npos &&
         name.find(':') == std::string_view::npos;
}

// The only host with a name that is `same` as one of ours.
template <class Same>
int only_host(const NetworkPlan& plan, std::span<const std::string> own_names, Same same) {
  int found = kUnknownHost;
  for (std::size_t host = 0; host < plan.num_hosts(); ++host) {
    for (const std::string& name : plan.names_of_host[host]) {
      const bool is_own = std::any_of(own_names.begin(), own_names.end(),
                                      [&](const std::string& own) { return same(name, own); });
      if (!is_own) continue;
      if (found != kUnknownHost && found != static_cast<int>(host)) return kUnknownHost;
      found = static_cast<int>(host);
    }
  }
  return found;
}

}  // namespace

NetworkPlan parse_network_plan(const PlanFile& file) {
  const json::Document document(file.name, file.text);
  const json::Value network = document.root();
  network.require_format("fairlead-network", 3);
  network.allow_only({"format", "version", "hosts", "latency_s", "bandwidth_Bps", "nic_out_Bps",
                      "nic_in_Bps", "groups"});
  NetworkPlan plan{.names_of_host = read_names(network.at("hosts"))};
  plan.latency_s =
      read_matrix(network.at("latency_s"), plan.num_hosts(), json::Allowed::not_negative);
  plan.bandwidth_Bps =
      read_matrix(network.at("bandwidth_Bps"), plan.num_hosts(), json::Allowed::positive_or_null);
  plan.nic_out_Bps = read_rates(network.at("nic_out_Bps"), plan.num_hosts());
  plan.nic_in_Bps = read_rates(network.at("nic_in_Bps"), plan.num_hosts());
  plan.groups = read_groups(network.at("groups"), plan.num_hosts());
  return plan;
}

MeasuredNetwork NetworkPlan::measured() const {
  return {.latency_s = {num_hosts(), latency_s},
          .bandwidth_Bps = {num_hosts(), bandwidth_Bps},
          .nic_out_Bps = nic_out_Bps,
          .nic_in_Bps = nic_in_Bps,
          .groups = {.group_of_pair = groups.group_of_pair,
                     .src_of_pair = groups.src_of_pair,
                     .dst_of_pair = groups.dst_of_pair,
                     .capacity_Bps = groups.capacity_Bps}};
}

NetworkPlan NetworkPlan::select(std::span<const std::int32_t> hosts) const {
  NetworkPlan selected;
  std::vector<std::int64_t> new_host_of_host(num_hosts(), kUnknownHost);
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const auto old = static_cast<std::size_t>(hosts[host]);
    new_host_of_host[old] = static_cast<std::int64_t>(host);
    selected.names_of_host.push_back(names_of_host[old]);
    if (!nic_out_Bps.empty()) selected.nic_out_Bps.push_back(nic_out_Bps[old]);
    if (!nic_in_Bps.empty()) selected.nic_in_Bps.push_back(nic_in_Bps[old]);
    for (const std::int32_t dst : hosts) {
      const std::size_t pair = old * num_hosts() + static_cast<std::size_t>(dst);
      selected.latency_s.push_back(latency_s[pair]);
      selected.bandwidth_Bps.push_back(bandwidth_Bps[pair]);
    }
  }
  // A group whose pairs are all gone limits nothing.
  selected.groups.capacity_Bps = groups.capacity_Bps;
  for (std::size_t pair = 0; pair < groups.group_of_pair.size(); ++pair) {
    const auto src = new_host_of_host[static_cast<std::size_t>(groups.src_of_pair[pair])];
    const auto dst = new_host_of_host[static_cast<std::size_t>(groups.dst_of_pair[pair])];
    if (src == kUnknownHost || dst == kUnknownHost) continue;
    selected.groups.group_of_pair.push_back(groups.group_of_pair[pair]);
    selected.groups.src_of_pair.push_back(src);
    selected.groups.dst_of_pair.push_back(dst);
  }
  return selected;
}

int find_host(const NetworkPlan& plan, std::span<const std::string> own_names) {
  const auto is_same = [](const std::string& name, const std::string& own) { return name == own; };
  const auto has_same_label = [](const std::string& name, const std::string& own) {
    return has_labels(name) && has_labels(own) && first_label(name) == first_label(own);
  };
  if (own_names.empty()) return kUnknownHost;
  const std::span node_name = own_names.first(1);
  int host = only_host(plan, node_name, is_same);
  if (host == kUnknownHost) host = only_host(plan, node_name, has_same_label);
  if (host == kUnknownHost) host = only_host(plan, own_names.subspan(1), is_same);
  return host;
}

}  // namespace fairlead::intercept
