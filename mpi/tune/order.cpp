// SPDX-License-Identifier: Apache-2.0
// Reads an order; Python has checked the values, so error messages are short.
#include "order.hpp"

#include <limits>

#include "json/value.hpp"
#include "schedule_json.hpp"

namespace fairlead::tune {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();
constexpr std::int64_t kMostBytes = kMaxInt;  // Counts of MPI calls are of type int.

std::vector<int> read_numbers(const json::Value& value) {
  std::vector<int> numbers;
  for (const std::int64_t number : value.whole_numbers(0, kMaxInt)) {
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

NativeAlgorithm read_native(const json::Value& value, std::size_t num_ranks) {
  value.allow_only({"settings", "order"});
  NativeAlgorithm algorithm;
  for (const json::Value& setting : value.at("settings").items()) {
    setting.allow_only({"variable", "value"});
    algorithm.settings.push_back(
        {.variable = setting.at("variable").text(), .value = setting.at("value").text()});
  }
  algorithm.order = read_numbers(value.at("order"));
  if (!algorithm.order.empty() && algorithm.order.size() != num_ranks) {
    value.at("order").refuse("expected as many as ranks");
  }
  return algorithm;
}

}  // namespace

Order parse_order(std::string_view text) {
  const json::Document document("order", text);
  const json::Value order = document.root();
  order.allow_only({"operation", "message_bytes", "root", "ranks", "host_of_rank", "natives",
                    "schedules", "min_rounds", "max_rounds", "time_s", "limit_s", "trial_s",
                    "drops_slower"});
  Order result;
  result.call = {.operation = collectives::operation_of(order.at("operation").text()),
                 .message_bytes = static_cast<std::uint64_t>(
                     order.at("message_bytes").whole_number(0, kMostBytes)),
                 .root = static_cast<int>(order.at("root").whole_number(0, kMaxInt))};
  result.ranks = read_numbers(order.at("ranks"));
  result.host_of_rank = read_numbers(order.at("host_of_rank"));
  if (result.host_of_rank.size() != result.ranks.size()) {
    order.at("host_of_rank").refuse("expected as many as ranks");
  }
  if (const auto value = order.find("natives")) {
    for (const json::Value& native : value->items()) {
      result.natives.push_back(read_native(native, result.ranks.size()));
    }
  }
  if (const auto value = order.find("schedules")) {
    for (const json::Value& schedule : value->items()) {
      result.schedules.push_back(collectives::read_schedule(schedule));
    }
  }
  const auto read_rounds = [&order](const char* field, int& rounds) {
    if (const auto value = order.find(field)) {
      rounds = static_cast<int>(value->whole_number(1, kMaxInt));
    }
  };
  read_rounds("min_rounds", result.min_rounds);
  read_rounds("max_rounds", result.max_rounds);
  if (const auto value = order.find("drops_slower")) result.drops_slower = value->truth();
  const auto read_time = [&order](const char* field, double& time_s) {
    if (const auto value = order.find(field)) time_s = value->number(json::Allowed::not_negative);
  };
  read_time("time_s", result.time_s);
  read_time("limit_s", result.limit_s);
  read_time("trial_s", result.trial_s);
  return result;
}

}  // namespace fairlead::tune
