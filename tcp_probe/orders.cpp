// SPDX-License-Identifier: Apache-2.0
// Reads orders with all their fields checked.
#include "orders.hpp"

#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>

#include "leader.hpp"
#include "messages.hpp"

namespace fairlead::tcp_probe {
namespace {

using Json = nlohmann::json;

Peer parse_peer(const Json& peer) {
  return {peer.at(0).get<std::string>(), peer.at(1).get<std::uint16_t>()};
}

Json to_json(const MedianEstimate& estimate) {
  // What is not finite becomes null.
  return {estimate.median, estimate.low, estimate.high, estimate.num_samples};
}

Json measure(const Json& order, const std::string& key) {
  const Precision precision{.target_ratio = order.at("target_ratio").get<double>(),
                            .max_samples = order.at("max_samples").get<int>(),
                            .limit_s = order.at("limit_s").get<double>(),
                            .silence_timeout_s = order.at("silence_timeout_s").get<double>()};
  const PairResult found = measure_pair(parse_peer(order.at("peer")), key, precision);
  return {{"latency_s", to_json(found.latency_s)},
          {"there_Bps", to_json(found.there_Bps)},
          {"back_Bps", to_json(found.back_Bps)},
          {"train_bytes", found.train_bytes}};
}

Flows prepare(const Json& order, const std::string& key) {
  std::vector<FlowOrder> flows;
  for (const Json& flow : order.at("flows")) {
    flows.push_back({parse_peer(flow.at(0)), flow.at(1).get<std::uint64_t>()});
  }
  return {flows, key, order.at("silence_timeout_s").get<double>()};
}

}  // namespace

std::string Orders::answer(const std::string& line) {
  try {
    const Json order = Json::parse(line);
    const auto name = order.at("do").get<std::string>();
    if (name == "key") {
      const auto key = order.at("key").get<std::string>();
      if (key.size() != kKeyBytes) throw ProbeError("the key has a wrong length");
      key_.set(key);
      return Json{{"done", name}}.dump();
    }
    if (name == "measure") return measure(order, key_.get()).dump();
    if (name == "prepare") {
      const int set = order.at("set").get<int>();
      flows_of_set_.insert_or_assign(set, prepare(order, key_.get()));
      return Json{{"done", name}}.dump();
    }
    if (name == "run") {
      return Json{{"seconds", flows_of_set_.at(order.at("set").get<int>()).run()}}.dump();
    }
    throw ProbeError("there is no order " + name);
  } catch (const std::exception& error) {
    return Json{{"failed", error.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace fairlead::tcp_probe
