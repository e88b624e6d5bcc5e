// SPDX-License-Identifier: Apache-2.0
// Which server has the next event.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace fairlead::sim {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// One time for each server, and the server with the earliest; of equal times the lower number.
/// A winner tree (tournament tree): any time can change in O(log servers).
class EventQueue {
 public:
  explicit EventQueue(std::size_t num_servers)
      : num_leaves_(std::bit_ceil(num_servers)), nodes_(2 * num_leaves_) {
    for (std::size_t leaf = 0; leaf < num_leaves_; ++leaf) {
      nodes_[num_leaves_ + leaf] = {.time_ns = kNever, .server = leaf};
    }
    for (std::size_t node = num_leaves_ - 1; node > 0; --node) nodes_[node] = winner(node);
  }

  void set(std::size_t server, std::int64_t time_ns) {
    std::size_t node = num_leaves_ + server;
    nodes_[node].time_ns = time_ns;
    while (node > 1) {
      node /= 2;
      nodes_[node] = winner(node);
    }
  }

  [[nodiscard]] bool is_empty() const { return nodes_[1].time_ns == kNever; }
  [[nodiscard]] std::size_t next_server() const { return nodes_[1].server; }

 private:
  struct Entry {
    std::int64_t time_ns;
    std::size_t server;
  };

  [[nodiscard]] const Entry& winner(std::size_t node) const {
    const Entry& left = nodes_[2 * node];
    const Entry& right = nodes_[2 * node + 1];
    return right.time_ns < left.time_ns ? right : left;
  }

  std::size_t num_leaves_;
  std::vector<Entry> nodes_;  // nodes_[1] is the winner of all
};

}  // namespace fairlead::sim
