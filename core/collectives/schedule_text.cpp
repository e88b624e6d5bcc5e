// SPDX-License-Identifier: Apache-2.0
// A schedule as lines of the plan, and back. Every line has to be as docs/reference/plan.md says.
#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>

#include "fairlead/collectives/schedule.hpp"
#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

constexpr std::string_view kHeader = "fairlead-schedule";
constexpr std::string_view kVersion = "1";
constexpr std::int32_t kMaxHosts = 65536;

void append_value(std::string& text, double value) {
  std::array<char, 32> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(" ").append(digits.data(), written.ptr);
}

void append_value(std::string& text, std::string_view value) {
  text.append(" ").append(value);
}

template <std::integral Value>
void append_value(std::string& text, Value value) {
  text.append(" ").append(std::to_string(value));
}

template <typename... Values>
void append_line(std::string& text, std::string_view keyword, const Values&... values) {
  text.append(keyword);
  (append_value(text, values), ...);
  text.append("\n");
}

void append_hosts(std::string& text, std::string_view keyword,
                  std::span<const std::int32_t> hosts) {
  text.append(keyword);
  for (const std::int32_t host : hosts) append_value(text, host);
  text.append("\n");
}

/// Hands out one line after the other, and words every error.
class Lines {
 public:
  Lines(std::string_view& rest, const std::string& name, std::size_t& number)
      : rest_(rest), name_(name), number_(number) {}

  /// Goes to the next line and returns its first word.
  std::string_view next() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) fail("the schedule is cut off");
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++number_;
    return word();
  }

  [[nodiscard]] bool has_words() const { return !line_.empty(); }

  std::string_view word() {
    const std::size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view first = line_.substr(0, end);
    line_.remove_prefix(std::min(end + 1, line_.size()));
    if (first.empty()) fail("a word is missing");
    return first;
  }

  template <typename Value>
  Value number() {
    const std::string_view digits = word();
    Value value{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      fail(std::string("'").append(digits).append("' is not a number in range"));
    }
    return value;
  }

  std::vector<std::int32_t> hosts() {
    std::vector<std::int32_t> found;
    while (has_words()) found.push_back(number<std::int32_t>());
    return found;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    // The number is that of the line behind the one being read.
    throw InputError(name_ + ":" + std::to_string(std::max<std::size_t>(number_, 2) - 1) + ": " +
                     problem);
  }

 private:
  std::string_view& rest_;
  const std::string& name_;
  std::size_t& number_;
  std::string_view line_;
};

void read_group(Lines& lines, Schedule& schedule) {
  const auto level = lines.number<std::size_t>();
  if (level > schedule.levels.size() || level + 1 < schedule.levels.size()) {
    lines.fail("group: the levels are not in order");
  }
  if (level == schedule.levels.size()) schedule.levels.emplace_back();
  schedule.levels[level].push_back(lines.hosts());
}

void read_line(std::string_view keyword, Lines& lines, Schedule& schedule) {
  if (keyword == "operation") {
    schedule.operation = operation_of(lines.word());
  } else if (keyword == "form") {
    schedule.form = form_of(lines.word());
  } else if (keyword == "method") {
    schedule.method = lines.word();
  } else if (keyword == "num_hosts") {
    schedule.num_hosts = lines.number<std::int32_t>();
    if (schedule.num_hosts > kMaxHosts) lines.fail("num_hosts: too many");
  } else if (keyword == "root") {
    schedule.root = lines.number<std::int32_t>();
  } else if (keyword == "message_bytes") {
    schedule.message_bytes = lines.number<std::uint64_t>();
  } else if (keyword == "predicted_s") {
    schedule.predicted_s = lines.number<double>();
  } else if (keyword == "lower_bound_s") {
    schedule.lower_bound_s = lines.number<double>();
  } else if (keyword == "window") {
    schedule.window = lines.number<std::int32_t>();
  } else if (keyword == "max_sends") {
    schedule.max_sends = lines.number<std::int32_t>();
  } else if (keyword == "num_parts") {
    schedule.num_parts = lines.number<std::int32_t>();
  } else if (keyword == "order") {
    schedule.order = lines.hosts();
  } else if (keyword == "tree") {
    schedule.trees.push_back(lines.hosts());
  } else if (keyword == "segment") {
    const auto tree = lines.number<std::int32_t>();
    schedule.segments.push_back({.tree = tree, .share_ratio = lines.number<double>()});
  } else if (keyword == "group") {
    read_group(lines, schedule);
  } else {
    lines.fail("unknown word '" + std::string(keyword) + "'");
  }
  if (lines.has_words()) lines.fail(std::string(keyword) + ": a word too many");
}

}  // namespace

std::string to_text(const Schedule& schedule) {
  std::string text;
  append_line(text, kHeader, kVersion);
  append_line(text, "operation", name_of(schedule.operation));
  append_line(text, "form", name_of(schedule.form));
  append_line(text, "method", std::string_view(schedule.method));
  append_line(text, "num_hosts", schedule.num_hosts);
  append_line(text, "root", schedule.root);
  append_line(text, "message_bytes", schedule.message_bytes);
  append_line(text, "predicted_s", schedule.predicted_s);
  append_line(text, "lower_bound_s", schedule.lower_bound_s);
  append_line(text, "window", schedule.window);
  append_line(text, "max_sends", schedule.max_sends);
  append_line(text, "num_parts", schedule.num_parts);
  if (!schedule.order.empty()) append_hosts(text, "order", schedule.order);
  for (const ParentOfHost& tree : schedule.trees) append_hosts(text, "tree", tree);
  for (const Segment& segment : schedule.segments) {
    append_line(text, "segment", segment.tree, segment.share_ratio);
  }
  for (std::size_t level = 0; level < schedule.levels.size(); ++level) {
    for (const Group& group : schedule.levels[level]) {
      append_hosts(text, "group " + std::to_string(level), group);
    }
  }
  append_line(text, "end");
  return text;
}

Schedule read_schedule(std::string_view& text, const std::string& name, std::size_t& line_number) {
  Lines lines(text, name, line_number);
  if (lines.next() != kHeader || lines.word() != kVersion) {
    lines.fail("this version reads schedules of version 1 only");
  }
  Schedule schedule;
  try {
    for (std::string_view keyword = lines.next(); keyword != "end"; keyword = lines.next()) {
      read_line(keyword, lines, schedule);
    }
    check(schedule);
  } catch (const InputError& error) {
    const std::string problem = error.what();
    if (problem.starts_with(name + ":")) throw;
    lines.fail(problem);
  }
  return schedule;
}

}  // namespace fairlead::collectives
