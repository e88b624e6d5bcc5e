// SPDX-License-Identifier: Apache-2.0
// The messages of a forest: segments down its trees, up, or up and down again.
#include <cstddef>

#include "collectives/programs/programs.hpp"

namespace fairlead::collectives {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// The transfers of all segments in one direction: into each host from its parent, or out of it.
class Flood {
 public:
  Flood(const Schedule& schedule, Program& program)
      : schedule_(schedule),
        program_(program),
        num_hosts_(static_cast<std::size_t>(schedule.num_hosts)),
        transfer_of_(schedule.segments.size() * num_hosts_, kNoTransfer),
        numbers_of_tree_(schedule.trees.size()),
        place_of_segment_(schedule.segments.size()) {
    for (std::size_t segment = 0; segment < schedule.segments.size(); ++segment) {
      auto& numbers = numbers_of_tree_[static_cast<std::size_t>(schedule.segments[segment].tree)];
      place_of_segment_[segment] = numbers.size();
      numbers.push_back(segment);
    }
  }

  /// Message of `segment` between `host` and its parent.
  [[nodiscard]] std::int32_t& transfer(std::size_t segment, std::size_t host) {
    return transfer_of_[segment * num_hosts_ + host];
  }

  /// The segment `distance` places earlier in the same tree, or kNone.
  [[nodiscard]] std::size_t earlier(std::size_t segment, std::size_t distance) const {
    const auto& numbers =
        numbers_of_tree_[static_cast<std::size_t>(schedule_.segments[segment].tree)];
    const std::size_t place = place_of_segment_[segment];
    return place < distance ? kNone : numbers[place - distance];
  }

  /// `made` waits for the message between `host` and its parent that is `window` places earlier.
  void keep_window(std::size_t segment, std::size_t host, std::int32_t made) {
    const std::size_t before = earlier(segment, static_cast<std::size_t>(schedule_.window));
    if (before != kNone) program_.add_dependency(transfer(before, host), made);
  }

 private:
  const Schedule& schedule_;
  Program& program_;
  std::size_t num_hosts_;
  std::vector<std::int32_t> transfer_of_;
  std::vector<std::vector<std::size_t>> numbers_of_tree_;
  std::vector<std::size_t> place_of_segment_;
};

/// Hosts of one tree, parents before children.
struct Walk {
  std::vector<std::vector<std::int32_t>> children;
  std::vector<std::size_t> hosts;
};

std::vector<Walk> walks_of(const Schedule& schedule) {
  std::vector<Walk> walks;
  for (const ParentOfHost& parents : schedule.trees) {
    Walk walk{.children = children_of_host(parents), .hosts = {}};
    for (std::size_t host = 0; host < parents.size(); ++host) {
      if (parents[host] == kNoHost) walk.hosts.push_back(host);
    }
    for (std::size_t next = 0; next < walk.hosts.size(); ++next) {
      for (const std::int32_t child : walk.children[walk.hosts[next]]) {
        walk.hosts.push_back(static_cast<std::size_t>(child));
      }
    }
    walks.push_back(std::move(walk));
  }
  return walks;
}

class ForestProgram {
 public:
  explicit ForestProgram(const Schedule& schedule)
      : schedule_(schedule),
        walks_(walks_of(schedule)),
        up_(schedule, program_),
        down_(schedule, program_) {
    // Both directions of an allreduce would need a limit each.
    if (schedule.operation == Operation::bcast) program_.max_sends = schedule.max_sends;
    if (schedule.operation == Operation::reduce) program_.max_receives = schedule.max_sends;
  }

  Program made() {
    for (std::size_t segment = 0; segment < schedule_.segments.size(); ++segment) {
      if (schedule_.operation != Operation::bcast) add_upwards(segment);
      if (schedule_.operation != Operation::reduce) add_downwards(segment);
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] double bytes_of(std::size_t segment) const {
    return schedule_.segments[segment].share_ratio * static_cast<double>(schedule_.message_bytes);
  }
  [[nodiscard]] std::size_t tree_of(std::size_t segment) const {
    return static_cast<std::size_t>(schedule_.segments[segment].tree);
  }

  void add_upwards(std::size_t segment) {
    const Walk& walk = walks_[tree_of(segment)];
    const std::size_t before = up_.earlier(segment, 1);
    for (auto parent = walk.hosts.rbegin(); parent != walk.hosts.rend(); ++parent) {
      const auto& siblings = walk.children[*parent];
      for (std::size_t place = 0; place < siblings.size(); ++place) {
        const auto host = static_cast<std::size_t>(siblings[place]);
        const std::int32_t made =
            program_.add(siblings[place], static_cast<std::int32_t>(*parent), bytes_of(segment));
        for (const std::int32_t child : walk.children[host]) {
          const auto from = static_cast<std::size_t>(child);
          program_.add_dependency(up_.transfer(segment, from), made);
          if (before != kNone) program_.add_dependency(up_.transfer(before, from), made);
        }
        // A place in the window is free when the segment before has been combined, in order.
        for (std::size_t earlier = 0; earlier <= place; ++earlier) {
          up_.keep_window(segment, static_cast<std::size_t>(siblings[earlier]), made);
        }
        up_.transfer(segment, host) = made;
      }
    }
  }

  void add_downwards(std::size_t segment) {
    const Walk& walk = walks_[tree_of(segment)];
    const std::size_t before = down_.earlier(segment, 1);
    for (const std::size_t host : walk.hosts) {
      for (const std::int32_t child : walk.children[host]) {
        const std::int32_t made =
            program_.add(static_cast<std::int32_t>(host), child, bytes_of(segment));
        program_.add_dependency(down_.transfer(segment, host), made);
        if (before != kNone) program_.add_dependency(down_.transfer(before, host), made);
        if (host == walk.hosts.front() && schedule_.operation == Operation::allreduce) {
          for (const std::int32_t other : walk.children[host]) {
            program_.add_dependency(up_.transfer(segment, static_cast<std::size_t>(other)), made);
          }
        }
        down_.keep_window(segment, static_cast<std::size_t>(child), made);
        down_.transfer(segment, static_cast<std::size_t>(child)) = made;
      }
    }
  }

  const Schedule& schedule_;
  std::vector<Walk> walks_;
  Program program_;
  Flood up_, down_;
};

}  // namespace

Program forest_program(const Schedule& schedule) {
  return ForestProgram(schedule).made();
}

}  // namespace fairlead::collectives
