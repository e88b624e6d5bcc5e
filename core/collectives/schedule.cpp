// SPDX-License-Identifier: Apache-2.0
// Names of operations and forms, what an executor needs of a schedule, and what it derives from it.
#include "fairlead/collectives/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fairlead/error.hpp"

namespace fairlead::collectives {
namespace {

constexpr std::array<std::string_view, 9> kOperations{"bcast",          "reduce",    "gather",
                                                      "scatter",        "allgather", "allreduce",
                                                      "reduce_scatter", "alltoall",  "barrier"};
constexpr std::array<std::string_view, 9> kForms{"native",     "levels",        "forest",
                                                 "ring",       "linear",        "doubling",
                                                 "split_tree", "dissemination", "two_level"};
constexpr double kShareTolerance = 1e-6;

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, std::string_view name,
                     const char* what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw InputError(std::string(what) + ": unknown name '" + std::string(name) + "'");
  }
  return static_cast<std::size_t>(found - names.begin());
}

[[noreturn]] void fail(const std::string& problem) {
  throw InputError("schedule: " + problem);
}

void check_each_once(const std::string& field, std::span<const std::int32_t> hosts,
                     std::int32_t num_hosts) {
  std::vector<char> is_seen(static_cast<std::size_t>(num_hosts), 0);
  if (hosts.size() != is_seen.size()) {
    fail(field + ": expected " + std::to_string(is_seen.size()) + " hosts, got " +
         std::to_string(hosts.size()));
  }
  for (const std::int32_t host : hosts) {
    if (host < 0 || host >= num_hosts) {
      fail(field + ": there is no host " + std::to_string(host));
    }
    if (std::exchange(is_seen[static_cast<std::size_t>(host)], 1) != 0) {
      fail(field + ": host " + std::to_string(host) + " stands twice");
    }
  }
}

void check_tree(const ParentOfHost& parent_of_host, const Schedule& schedule) {
  const auto num_hosts = static_cast<std::size_t>(schedule.num_hosts);
  if (parent_of_host.size() != num_hosts) {
    fail("tree: expected " + std::to_string(num_hosts) + " parents, got " +
         std::to_string(parent_of_host.size()));
  }
  std::int32_t root = kNoHost;
  for (std::size_t host = 0; host < num_hosts; ++host) {
    const std::int32_t parent = parent_of_host[host];
    if (parent < kNoHost || parent >= schedule.num_hosts) {
      fail("tree: there is no host " + std::to_string(parent));
    }
    if (parent != kNoHost) continue;
    if (root != kNoHost) fail("tree: two hosts without a parent");
    root = static_cast<std::int32_t>(host);
  }
  if (root == kNoHost) fail("tree: no host without a parent");
  if (schedule.root != kNoHost && root != schedule.root) fail("tree: another root");
  std::size_t num_reached = 1;
  std::vector<std::int32_t> reached{root};
  const auto children = children_of_host(parent_of_host);
  while (!reached.empty()) {
    const auto& next = children[static_cast<std::size_t>(reached.back())];
    reached.pop_back();
    reached.insert(reached.end(), next.begin(), next.end());
    num_reached += next.size();
  }
  if (num_reached != num_hosts) fail("tree: hosts in a cycle");
}

void check_segments(const Schedule& schedule) {
  if (schedule.segments.empty()) fail("segments: none");
  double sum_ratio = 0.0;
  for (const Segment& segment : schedule.segments) {
    if (segment.tree < 0 || segment.tree >= static_cast<std::int32_t>(schedule.trees.size())) {
      fail("segments: there is no tree " + std::to_string(segment.tree));
    }
    if (!(segment.share_ratio > 0.0)) fail("segments: each share must be > 0");
    sum_ratio += segment.share_ratio;
  }
  if (std::abs(sum_ratio - 1.0) > kShareTolerance) fail("segments: the shares do not add up to 1");
}

/// Each level deals the leaders of the one above and their groups: at the end all hosts are
/// reached.
void check_levels(const Schedule& schedule) {
  if (schedule.levels.empty()) fail("levels: none");
  std::vector<char> is_reached(static_cast<std::size_t>(schedule.num_hosts), 0);
  if (schedule.root < 0) fail("levels: a root is needed");
  is_reached[static_cast<std::size_t>(schedule.root)] = 1;
  for (const auto& groups : schedule.levels) {
    for (const Group& group : groups) {
      if (group.empty()) fail("levels: an empty group");
      for (std::size_t index = 0; index < group.size(); ++index) {
        const std::int32_t host = group[index];
        if (host < 0 || host >= schedule.num_hosts) {
          fail("levels: there is no host " + std::to_string(host));
        }
        char& reached = is_reached[static_cast<std::size_t>(host)];
        if (index == 0 && reached == 0) fail("levels: a leader that no level above reaches");
        if (index > 0 && std::exchange(reached, 1) != 0) {
          fail("levels: host " + std::to_string(host) + " is reached twice");
        }
      }
    }
  }
  if (std::count(is_reached.begin(), is_reached.end(), 0) > 0) {
    fail("levels: a host that no level reaches");
  }
}

/// Each host stands in one island.
void check_islands(const Schedule& schedule) {
  if (schedule.levels.size() != 1) {
    fail("levels: expected one of islands, got " + std::to_string(schedule.levels.size()));
  }
  std::vector<std::int32_t> hosts;
  for (const Group& island : schedule.levels.front()) {
    if (island.empty()) fail("levels: an empty group");
    hosts.insert(hosts.end(), island.begin(), island.end());
  }
  check_each_once("levels", hosts, schedule.num_hosts);
}

}  // namespace

std::string_view name_of(Operation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

std::string_view name_of(Form form) {
  return kForms[static_cast<std::size_t>(form)];
}

Operation operation_of(std::string_view name) {
  return static_cast<Operation>(index_of(kOperations, name, "operation"));
}

Form form_of(std::string_view name) {
  return static_cast<Form>(index_of(kForms, name, "form"));
}

bool has_root(Operation operation) {
  using enum Operation;
  return operation == bcast || operation == reduce || operation == gather || operation == scatter;
}

bool is_supported(Operation operation, Form form) {
  using enum Operation;
  switch (form) {
    case Form::native:
      return true;
    case Form::levels:
      return operation == bcast || operation == reduce;
    case Form::forest:
      return operation == bcast || operation == reduce || operation == allreduce;
    case Form::ring:
      return operation == allgather || operation == reduce_scatter || operation == allreduce;
    case Form::linear:
      return operation == scatter || operation == gather || operation == allgather ||
             operation == allreduce || operation == reduce_scatter || operation == alltoall;
    case Form::doubling:
      return operation == allreduce;
    case Form::split_tree:
      return operation == scatter || operation == gather;
    case Form::dissemination:
      return operation == barrier || operation == allgather || operation == reduce_scatter;
    case Form::two_level:
      return operation == allgather || operation == reduce_scatter || operation == allreduce;
  }
  return false;
}

void check(const Schedule& schedule) {
  if (schedule.num_hosts < 1) fail("num_hosts: must be >= 1");
  if (!is_supported(schedule.operation, schedule.form)) {
    fail(std::string(name_of(schedule.operation)) + " has no form " +
         std::string(name_of(schedule.form)));
  }
  const bool is_root_there = schedule.root >= 0 && schedule.root < schedule.num_hosts;
  if (has_root(schedule.operation) ? !is_root_there : schedule.root != kNoHost) {
    fail("root: does not fit the operation");
  }
  const bool is_forest = schedule.form == Form::forest;
  if (is_forest || schedule.form == Form::split_tree) {
    if (schedule.trees.empty() || (!is_forest && schedule.trees.size() > 1)) {
      fail("trees: " + std::to_string(schedule.trees.size()) + " of them");
    }
    for (const ParentOfHost& tree : schedule.trees) check_tree(tree, schedule);
    if (is_forest) check_segments(schedule);
  } else if (schedule.form == Form::levels) {
    check_levels(schedule);
  } else if (schedule.form == Form::two_level) {
    check_islands(schedule);
  } else {
    check_each_once("order", schedule.order, schedule.num_hosts);
  }
  const bool has_window =
      is_forest || schedule.form == Form::ring || schedule.form == Form::two_level;
  if (has_window && schedule.window < 1) fail("window: must be >= 1");
  if (schedule.form == Form::ring && (schedule.num_parts < 1 || schedule.num_parts > kMaxParts)) {
    fail("num_parts: must be 1 to " + std::to_string(kMaxParts));
  }
  if (schedule.max_sends < 0) fail("max_sends: must be >= 0");
}

std::vector<std::vector<std::int32_t>> children_of_host(
    std::span<const std::int32_t> parent_of_host) {
  const std::size_t num_hosts = parent_of_host.size();
  std::vector<std::int32_t> height(num_hosts, 0);
  for (std::size_t leaf = 0; leaf < num_hosts; ++leaf) {
    std::int32_t host = parent_of_host[leaf];
    // A path longer than the number of hosts is a cycle, which check() refuses.
    for (std::int32_t above = 1; host != kNoHost && above < static_cast<std::int32_t>(num_hosts);
         ++above) {
      auto& highest = height[static_cast<std::size_t>(host)];
      if (highest >= above) break;
      highest = above;
      host = parent_of_host[static_cast<std::size_t>(host)];
    }
  }
  std::vector<std::vector<std::int32_t>> children(num_hosts);
  for (std::size_t host = 0; host < num_hosts; ++host) {
    if (parent_of_host[host] == kNoHost) continue;
    children[static_cast<std::size_t>(parent_of_host[host])].push_back(
        static_cast<std::int32_t>(host));
  }
  for (auto& siblings : children) {
    std::stable_sort(
        siblings.begin(), siblings.end(), [&height](std::int32_t left, std::int32_t right) {
          return height[static_cast<std::size_t>(left)] > height[static_cast<std::size_t>(right)];
        });
  }
  return children;
}

std::vector<std::uint64_t> segment_starts(std::span<const Segment> segments,
                                          std::uint64_t num_elements) {
  std::vector<std::uint64_t> starts{0};
  double sum_ratio = 0.0;
  for (const Segment& segment : segments) {
    sum_ratio += segment.share_ratio;
    const double end = std::nearbyint(std::min(sum_ratio, 1.0) * static_cast<double>(num_elements));
    starts.push_back(std::min(static_cast<std::uint64_t>(end), num_elements));
  }
  starts.back() = num_elements;
  return starts;
}

std::vector<std::uint64_t> block_starts(std::int32_t num_blocks, std::uint64_t num_elements) {
  const auto blocks = static_cast<std::uint64_t>(num_blocks);
  std::vector<std::uint64_t> starts{0};
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const std::uint64_t length = num_elements / blocks + (block < num_elements % blocks ? 1 : 0);
    starts.push_back(starts.back() + length);
  }
  return starts;
}

std::uint64_t part_start(std::int32_t part, std::int32_t num_parts, std::uint64_t num_elements) {
  const auto shares_of = [](std::int32_t parts) {
    return static_cast<std::uint64_t>(parts) * (static_cast<std::uint64_t>(parts) + 1) / 2;
  };
  const std::uint64_t before = shares_of(part), all = shares_of(num_parts);
  return num_elements / all * before + num_elements % all * before / all;
}

}  // namespace fairlead::collectives
