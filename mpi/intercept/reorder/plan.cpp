// SPDX-License-Identifier: Apache-2.0
// Reads the plan of the feature, and applies its message size to the plan's network.
#include "reorder/plan.hpp"

#include "json/value.hpp"

namespace fairlead::intercept {
namespace {

double read_message_bytes(const PlanFile& file) {
  const json::Document document(file.name, file.text);
  const json::Value reorder = document.root();
  reorder.require_format("fairlead-reorder", 2);
  reorder.allow_only({"format", "version", "message_bytes"});
  return reorder.at("message_bytes").number(json::Allowed::positive);
}

}  // namespace

ReorderPlan parse_reorder_plan(const PlanFile& network, const PlanFile& reorder) {
  const double message_bytes = read_message_bytes(reorder);
  ReorderPlan plan{.network = parse_network_plan(network), .message_s = {}};
  plan.message_s = plan.network.latency_s;
  // CMPI section 4.1: latency plus size over bandwidth.
  for (std::size_t pair = 0; pair < plan.message_s.size(); ++pair) {
    plan.message_s[pair] += message_bytes / plan.network.bandwidth_Bps[pair];
  }
  return plan;
}

}  // namespace fairlead::intercept
