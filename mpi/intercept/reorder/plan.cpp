// SPDX-License-Identifier: Apache-2.0
// Reads the plan's text line by line; every line has to be as the format says.
#include "reorder/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fairlead/error.hpp"

namespace fairlead::intercept {
namespace {

constexpr std::size_t kMaxHosts = 65536;

using Words = std::vector<std::string_view>;

// Hands out one line after the other, and words every error.
class Lines {
 public:
  explicit Lines(const PlanFile& file) : file_(file), rest_(file.text) {}

  // The words of the next line, which has to begin with `keyword`; without the keyword.
  Words next(std::string_view keyword) {
    ++number_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) fail("the file is cut off");
    Words words = split(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    if (words.empty() || words.front() != keyword) {
      fail("expected a line that begins with '" + std::string(keyword) + "'");
    }
    words.erase(words.begin());
    return words;
  }

  double number(std::string_view word) const {
    double value = 0.0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
      fail("'" + std::string(word) + "' is not a number");
    }
    return value;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(file_.name + ":" + std::to_string(number_) + ": " + problem);
  }

 private:
  static Words split(std::string_view line) {
    Words words;
    while (!line.empty()) {
      const std::size_t end = std::min(line.find(' '), line.size());
      if (end > 0) words.push_back(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
  }

  const PlanFile& file_;
  std::string_view rest_;
  int number_ = 0;
};

void require_header(Lines& lines, std::string_view kind) {
  const Words version = lines.next(kind);
  if (version.size() != 1 || version[0] != "1") {
    lines.fail("this library reads version 1 of the format only");
  }
}

std::size_t read_num_hosts(Lines& lines) {
  const Words words = lines.next("num_hosts");
  const double count = words.size() == 1 ? lines.number(words[0]) : 0.0;
  if (!(count >= 1.0 && count <= double{kMaxHosts}) || count != std::floor(count)) {
    lines.fail("num_hosts: expected a whole number from 1 to " + std::to_string(kMaxHosts));
  }
  return static_cast<std::size_t>(count);
}

// One line per host: `keyword VALUE...`, row by row.
std::vector<double> read_matrix(Lines& lines, std::string_view keyword, std::size_t num_hosts,
                                bool (*is_allowed)(double), const char* allowed) {
  std::vector<double> values;
  values.reserve(num_hosts * num_hosts);
  for (std::size_t src = 0; src < num_hosts; ++src) {
    const Words row = lines.next(keyword);
    if (row.size() != num_hosts) {
      lines.fail(std::string(keyword) + ": expected " + std::to_string(num_hosts) +
                 " values, got " + std::to_string(row.size()));
    }
    for (const std::string_view word : row) {
      const double value = lines.number(word);
      if (!is_allowed(value)) {
        lines.fail(std::string(keyword) + ": a value must be " + allowed + ", got " +
                   std::string(word));
      }
      values.push_back(value);
    }
  }
  return values;
}

double read_message_bytes(const PlanFile& file) {
  Lines lines(file);
  require_header(lines, "fairlead-reorder");
  const Words words = lines.next("message_bytes");
  const double bytes = words.size() == 1 ? lines.number(words[0]) : 0.0;
  if (!(bytes > 0.0) || std::isinf(bytes)) lines.fail("message_bytes: expected a number > 0");
  lines.next("end");
  return bytes;
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
int only_host(const ReorderPlan& plan, std::span<const std::string> own_names, Same same) {
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

ReorderPlan parse_reorder_plan(const PlanFile& network, const PlanFile& reorder) {
  const double message_bytes = read_message_bytes(reorder);
  Lines lines(network);
  require_header(lines, "fairlead-network");
  const std::size_t num_hosts = read_num_hosts(lines);
  ReorderPlan plan;
  for (std::size_t host = 0; host < num_hosts; ++host) {
    const Words names = lines.next("host");
    if (names.empty()) lines.fail("host: a name is missing");
    plan.names_of_host.emplace_back(names.begin(), names.end());
  }
  plan.message_s = read_matrix(
      lines, "latency_s", num_hosts, [](double s) { return s >= 0.0 && !std::isinf(s); },
      "finite and >= 0");
  const std::vector<double> bandwidth_Bps = read_matrix(
      lines, "bandwidth_Bps", num_hosts, [](double rate_Bps) { return rate_Bps > 0.0; }, "> 0");
  lines.next("end");
  // CMPI section 4.1: latency plus size over bandwidth.
  for (std::size_t pair = 0; pair < bandwidth_Bps.size(); ++pair) {
    plan.message_s[pair] += message_bytes / bandwidth_Bps[pair];
  }
  return plan;
}

int find_host(const ReorderPlan& plan, std::span<const std::string> own_names) {
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
