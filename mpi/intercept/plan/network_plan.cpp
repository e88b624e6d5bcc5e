// SPDX-License-Identifier: Apache-2.0
// Reads the plan's network, and looks a process's names up in it.
#include "plan/network_plan.hpp"

#include <algorithm>

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

std::vector<double> read_matrix(const json::Value& rows, std::size_t num_hosts,
                                json::Allowed allowed) {
  const auto require_size = [num_hosts](const json::Value& list) {
    if (list.num_items() == num_hosts) return;
    list.refuse("expected a list of length " + std::to_string(num_hosts) + ", got one of " +
                std::to_string(list.num_items()));
  };
  require_size(rows);
  std::vector<double> matrix;
  matrix.reserve(num_hosts * num_hosts);
  for (const json::Value& row : rows.items()) {
    require_size(row);
    const std::vector<double> values = row.numbers(allowed);
    matrix.insert(matrix.end(), values.begin(), values.end());
  }
  return matrix;
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
  network.require_format("fairlead-network", 2);
  network.allow_only({"format", "version", "hosts", "latency_s", "bandwidth_Bps"});
  NetworkPlan plan{.names_of_host = read_names(network.at("hosts"))};
  plan.latency_s =
      read_matrix(network.at("latency_s"), plan.num_hosts(), json::Allowed::not_negative);
  plan.bandwidth_Bps =
      read_matrix(network.at("bandwidth_Bps"), plan.num_hosts(), json::Allowed::positive_or_null);
  return plan;
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
