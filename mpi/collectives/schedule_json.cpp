// SPDX-License-Identifier: Apache-2.0
// The fields of a schedule, read and written.
#include "schedule_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

constexpr std::int32_t kMaxHosts = 65536;

std::int32_t read_number(const json::Value& value, std::int32_t min) {
  return static_cast<std::int32_t>(
      value.whole_number(min, std::numeric_limits<std::int32_t>::max()));
}

/// Hosts, or kNoHost where a tree has its root.
std::vector<std::int32_t> read_hosts(const json::Value& value) {
  std::vector<std::int32_t> hosts;
  for (const std::int64_t host : value.whole_numbers(kNoHost, kMaxHosts - 1)) {
    hosts.push_back(static_cast<std::int32_t>(host));
  }
  return hosts;
}

std::vector<Segment> read_segments(const json::Value& trees, const json::Value& shares) {
  const std::vector<std::int32_t> tree_of_segment = read_hosts(trees);
  const std::vector<double> share_of_segment = shares.numbers(json::Allowed::positive);
  if (share_of_segment.size() != tree_of_segment.size()) {
    shares.refuse("expected a list of length " + std::to_string(tree_of_segment.size()) +
                  ", got one of " + std::to_string(share_of_segment.size()));
  }
  std::vector<Segment> segments;
  for (std::size_t index = 0; index < share_of_segment.size(); ++index) {
    segments.push_back({.tree = tree_of_segment[index], .share_ratio = share_of_segment[index]});
  }
  return segments;
}

}  // namespace

Schedule read_schedule(const json::Value& value) {
  if (value.at("kind").text() != "schedule") value.at("kind").refuse("expected \"schedule\"");
  (void)value.at("version").whole_number(1, 1);
  value.allow_only({"kind", "version", "operation", "form", "method", "num_hosts", "root",
                    "message_bytes", "predicted_s", "lower_bound_s", "order", "trees",
                    "tree_of_segment", "share_of_segment", "levels", "window", "max_sends",
                    "num_parts"});
  Schedule schedule{
      .operation = operation_of(value.at("operation").text()),
      .form = form_of(value.at("form").text()),
      .method = value.at("method").text(),
      .num_hosts = static_cast<std::int32_t>(value.at("num_hosts").whole_number(1, kMaxHosts)),
      .root = read_number(value.at("root"), kNoHost),
      .message_bytes = static_cast<std::uint64_t>(
          value.at("message_bytes").whole_number(0, std::numeric_limits<std::int64_t>::max())),
      .predicted_s = value.at("predicted_s").number(json::Allowed::not_negative),
      .lower_bound_s = value.at("lower_bound_s").number(json::Allowed::not_negative),
      .order = read_hosts(value.at("order")),
      .segments = read_segments(value.at("tree_of_segment"), value.at("share_of_segment")),
      .window = read_number(value.at("window"), 0),
      .max_sends = read_number(value.at("max_sends"), 0),
      .num_parts = read_number(value.at("num_parts"), 0)};
  for (const json::Value& tree : value.at("trees").items()) {
    schedule.trees.push_back(read_hosts(tree));
  }
  for (const json::Value& level : value.at("levels").items()) {
    auto& groups = schedule.levels.emplace_back();
    for (const json::Value& group : level.items()) groups.push_back(read_hosts(group));
  }
  try {
    check(schedule);
  } catch (const InputError& error) {
    value.refuse(error.what());
  }
  return schedule;
}

std::string write_schedule(const Schedule& schedule) {
  std::vector<std::int32_t> tree_of_segment;
  std::vector<double> share_of_segment;
  for (const Segment& segment : schedule.segments) {
    tree_of_segment.push_back(segment.tree);
    share_of_segment.push_back(segment.share_ratio);
  }
  const nlohmann::json document = {{"kind", "schedule"},
                                   {"version", 1},
                                   {"operation", name_of(schedule.operation)},
                                   {"form", name_of(schedule.form)},
                                   {"method", schedule.method},
                                   {"num_hosts", schedule.num_hosts},
                                   {"root", schedule.root},
                                   {"message_bytes", schedule.message_bytes},
                                   {"predicted_s", schedule.predicted_s},
                                   {"lower_bound_s", schedule.lower_bound_s},
                                   {"order", schedule.order},
                                   {"trees", schedule.trees},
                                   {"tree_of_segment", tree_of_segment},
                                   {"share_of_segment", share_of_segment},
                                   {"levels", schedule.levels},
                                   {"window", schedule.window},
                                   {"max_sends", schedule.max_sends},
                                   {"num_parts", schedule.num_parts}};
  return document.dump();
}

}  // namespace fairlead::collectives
