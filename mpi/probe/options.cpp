// SPDX-License-Identifier: Apache-2.0
// Reads an order; Python has checked the values, so error messages are short.
#include "options.hpp"

#include <limits>

namespace fairlead::probe {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

void read_mode(const json::Value& value, Options& options) {
  options.mode = value.text();
  if (options.mode == "quick") {
    options.recipe = quick_recipe();
  } else if (options.mode == "long-trains") {
    options.recipe = long_train_recipe();
  } else if (options.mode == "full") {
    options.recipe = full_recipe();
  } else {
    value.refuse("expected quick, long-trains or full, got '" + options.mode + "'");
  }
}

std::vector<std::pair<int, int>> read_pairs(const json::Value& value) {
  std::vector<std::pair<int, int>> pairs;
  for (const json::Value& pair : value.items()) {
    const std::vector<std::int64_t> ranks = pair.whole_numbers(0, kMaxInt);
    if (ranks.size() != 2) pair.refuse("expected two ranks");
    pairs.emplace_back(static_cast<int>(ranks[0]), static_cast<int>(ranks[1]));
  }
  return pairs;
}

void read_number(const json::Value& order, const char* field, double& number) {
  if (const auto value = order.find(field)) number = value->number(json::Allowed::not_negative);
}

void read_whole_number(const json::Value& order, const char* field, int min, int& number) {
  if (const auto value = order.find(field)) {
    number = static_cast<int>(value->whole_number(min, kMaxInt));
  }
}

void read_truth(const json::Value& order, const char* field, bool& truth) {
  if (const auto value = order.find(field)) truth = value->truth();
}

InterfacesOptions read_interfaces(const json::Value& order) {
  order.allow_only({"pair_Bps"});
  InterfacesOptions options;
  read_number(order, "pair_Bps", options.pair_Bps);
  return options;
}

RehearsalOptions read_rehearsal(const json::Value& order) {
  order.allow_only({"patterns", "time_s", "max_rounds", "least_bytes", "most_s"});
  RehearsalOptions options{.patterns = read_patterns(order.at("patterns"))};
  if (options.patterns.empty()) order.at("patterns").refuse("is empty");
  read_number(order, "time_s", options.time_s);
  read_whole_number(order, "max_rounds", 1, options.max_rounds);
  int least_bytes = 1;
  read_whole_number(order, "least_bytes", 1, least_bytes);
  options.least_bytes = least_bytes;
  read_number(order, "most_s", options.most_s);
  return options;
}

std::vector<int> read_cpus(const json::Value& value) {
  const std::vector<std::int64_t> cpus = value.whole_numbers(0, kMaxInt);
  return {cpus.begin(), cpus.end()};
}

InsideOptions read_inside(const json::Value& order) {
  order.allow_only({"hosts", "read_bytes"});
  InsideOptions options;
  if (const auto bytes = order.find("read_bytes")) {
    options.read_bytes = bytes->whole_number(1, std::int64_t{1} << 32);
  }
  const auto hosts = order.find("hosts");
  if (!hosts) return options;
  for (const json::Value& host : hosts->items()) {
    host.allow_only({"pairs", "memory"});
    InsideOptions::OfHost& asked = options.hosts.emplace_back();
    asked.pairs = read_pairs(host.at("pairs"));
    for (const json::Value& cpus : host.at("memory").items()) {
      asked.memory.push_back(read_cpus(cpus));
    }
  }
  return options;
}

}  // namespace

Recipe quick_recipe() {
  return {.round_trip_bytes = 1024,
          .num_warm_up_round_trips = 2,
          .messages_per_train = 6,
          .message_bytes = 1024,
          .window = 2,
          .num_lead_trains = 3,
          .trains_per_command = 6,
          .warm_up_message_bytes = 0};
}

Recipe long_train_recipe() {
  return {.round_trip_bytes = 1024,
          .num_warm_up_round_trips = 2,
          .messages_per_train = 1,
          .message_bytes = std::int64_t{64} << 10,
          .window = 2,
          .num_lead_trains = 2,
          .trains_per_command = 6,
          .warm_up_message_bytes = 0};
}

Recipe full_recipe() {
  return {.round_trip_bytes = 1,
          .num_warm_up_round_trips = 10,
          .messages_per_train = 1,
          .message_bytes = std::int64_t{8} << 20,
          .window = 1,
          .num_lead_trains = 0,
          .trains_per_command = 1,
          .warm_up_message_bytes = std::int64_t{512} << 10};
}

Options parse_order(std::string_view text) {
  const json::Document document("order", text);
  const json::Value order = document.root();
  order.allow_only({"mode", "target_ratio", "max_samples", "budget_s", "concurrency",
                    "silence_timeout_s", "pairs", "hosts", "contention", "interfaces", "rehearsal",
                    "inside", "more_orders"});
  Options options;
  if (const auto value = order.find("mode")) read_mode(*value, options);
  read_number(order, "target_ratio", options.target_ratio);
  read_whole_number(order, "max_samples", 1, options.max_samples);
  read_number(order, "budget_s", options.budget_s);
  read_whole_number(order, "concurrency", 0, options.concurrency);
  read_number(order, "silence_timeout_s", options.silence_timeout_s);
  if (const auto value = order.find("pairs")) options.pairs = read_pairs(*value);
  read_truth(order, "hosts", options.has_hosts);
  read_truth(order, "contention", options.has_contention);
  if (const auto value = order.find("interfaces")) {
    if (options.has_contention) value->refuse("together with contention, which measures them, too");
    options.interfaces = read_interfaces(*value);
  }
  if (const auto value = order.find("rehearsal")) options.rehearsal = read_rehearsal(*value);
  if (const auto value = order.find("inside")) options.inside = read_inside(*value);
  read_truth(order, "more_orders", options.has_more_orders);
  return options;
}

}  // namespace fairlead::probe
