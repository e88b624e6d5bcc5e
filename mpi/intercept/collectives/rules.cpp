// SPDX-License-Identifier: Apache-2.0
// Reads the rules, and checks that their methods can plan what they are for.
#include "collectives/rules.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "fairlead/collectives/planning.hpp"
#include "fairlead/error.hpp"
#include "json/value.hpp"

namespace fairlead::intercept {
namespace {

namespace planning = fairlead::collectives;

constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxRanks = std::numeric_limits<std::int32_t>::max();

planning::Operation read_operation(const json::Value& value) {
  try {
    return planning::operation_of(value.text());
  } catch (const InputError& error) {
    value.refuse(error.what());
  }
}

std::string read_method(const json::Value& value, planning::Operation operation) {
  std::string name = value.text();
  for (const planning::Method& method : planning::methods()) {
    if (method.name == name && method.is_for(operation)) return name;
  }
  value.refuse("no method for " + std::string(name_of(operation)) + " is named \"" + name + "\"");
}

/// Nothing for a null.
std::vector<std::int32_t> read_hosts(const json::Value& value, std::size_t num_hosts) {
  if (value.is_null()) return {};
  std::vector<std::int32_t> hosts;
  for (const auto host : value.whole_numbers(0, static_cast<std::int64_t>(num_hosts) - 1)) {
    hosts.push_back(static_cast<std::int32_t>(host));
  }
  std::sort(hosts.begin(), hosts.end());
  if (hosts.empty()) value.refuse("expected a host");
  if (std::adjacent_find(hosts.begin(), hosts.end()) != hosts.end()) {
    value.refuse("a host is named twice");
  }
  return hosts;
}

/// 0 where it is missing or a null.
std::int32_t read_num_ranks(const json::Value& rule) {
  const auto value = rule.find("num_ranks");
  if (!value || value->is_null()) return 0;
  return static_cast<std::int32_t>(value->whole_number(1, kMaxRanks));
}

/// None where it is missing or a null.
std::optional<double> read_least_saving(const json::Value& rule) {
  const auto value = rule.find("least_saved_ratio");
  if (!value || value->is_null()) return std::nullopt;
  const double ratio = value->number(json::Allowed::not_negative);
  if (ratio >= 1) value->refuse("expected less than 1");
  return ratio;
}

CollectiveRule read_rule(const json::Value& value, std::size_t num_hosts) {
  value.allow_only(
      {"operation", "min_bytes", "max_bytes", "hosts", "num_ranks", "method", "least_saved_ratio"});
  const planning::Operation operation = read_operation(value.at("operation"));
  const std::int64_t min_bytes = value.at("min_bytes").whole_number(0, kMaxBytes);
  const json::Value max_bytes = value.at("max_bytes");
  return {.operation = operation,
          .min_bytes = static_cast<std::uint64_t>(min_bytes),
          .max_bytes = static_cast<std::uint64_t>(
              max_bytes.is_null() ? kMaxBytes : max_bytes.whole_number(min_bytes, kMaxBytes)),
          .hosts = read_hosts(value.at("hosts"), num_hosts),
          .num_ranks = read_num_ranks(value),
          .method = read_method(value.at("method"), operation),
          .least_saved_ratio = read_least_saving(value)};
}

DriftRule read_drift_rule(const json::Value& root) {
  DriftRule rule;
  if (const auto ratio = root.find("max_drift_ratio")) {
    rule.max_ratio = ratio->number(json::Allowed::positive);
  }
  if (const auto from = root.find("drift_from")) {
    const std::string name = from->text();
    if (name != "measured" && name != "predicted") {
      from->refuse("expected \"measured\" or \"predicted\", got \"" + name + "\"");
    }
    if (name == "predicted") rule.expected = Expected::predicted;
  }
  if (const auto ratio = root.find("max_watching_ratio")) {
    rule.max_cost_ratio = ratio->number(json::Allowed::positive);
  }
  return rule;
}

}  // namespace

CollectivesPlan parse_collectives_plan(const PlanFile& network, const PlanFile& collectives,
                                       int num_ranks) {
  CollectivesPlan plan{.network = parse_network_plan(network)};
  const json::Document document(collectives.name, collectives.text);
  const json::Value root = document.root();
  root.require_format("fairlead-collectives", 2);
  root.allow_only({"format", "version", "num_ranks", "is_reproducible", "max_drift_ratio",
                   "drift_from", "max_watching_ratio", "rules"});
  const json::Value planned_ranks = root.at("num_ranks");
  if (planned_ranks.whole_number(1, kMaxRanks) != num_ranks) {
    planned_ranks.refuse("the program has " + std::to_string(num_ranks));
  }
  plan.is_reproducible = root.at("is_reproducible").truth();
  const DriftRule drift = read_drift_rule(root);
  if (!plan.is_reproducible) plan.drift = drift;
  for (const json::Value& rule : root.at("rules").items()) {
    plan.rules.push_back(read_rule(rule, plan.network.num_hosts()));
    // Such a schedule is used after a comparison alone.
    if (plan.rules.back().least_saved_ratio && !plan.drift.is_on()) {
      rule.at("least_saved_ratio").refuse("needs max_drift_ratio, and a plan not reproducible");
    }
  }
  return plan;
}

}  // namespace fairlead::intercept
