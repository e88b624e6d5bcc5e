// SPDX-License-Identifier: Apache-2.0
// A ring from the cheapest successors of all hosts, whose cycles are patched together (Karp 1979),
// improved by moving runs of hosts elsewhere (Or 1976).
#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "collectives/orders/orders.hpp"

namespace fairlead::collectives {
namespace {

constexpr std::size_t kLongestRun = 3;
constexpr int kMaxRingPasses = 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A successor for each host, no two alike, at the least sum of costs: the assignment problem, by
/// shortest augmenting paths (Jonker, Volgenant 1987).
std::vector<std::size_t> cheapest_successors(const std::vector<double>& cost, std::size_t size) {
  const std::size_t none = size;
  std::vector<double> row_price(size, 0.0);
  std::vector<double> column_price(size + 1, 0.0);
  std::vector<std::size_t> row_of_column(size + 1, none);
  for (std::size_t start = 0; start < size; ++start) {
    // Column `size` stands for the row that has none yet.
    row_of_column[size] = start;
    std::vector<double> distance(size, kInfinity);
    std::vector<std::size_t> before(size, none);
    std::vector<char> is_done(size + 1, 0);
    std::size_t column = size;
    while (row_of_column[column] != none) {
      is_done[column] = 1;
      const std::size_t row = row_of_column[column];
      double step = kInfinity;
      std::size_t nearest = none;
      for (std::size_t next = 0; next < size; ++next) {
        if (is_done[next] != 0) continue;
        const double reduced = (next == row ? kInfinity : cost[row * size + next]) -
                               row_price[row] - column_price[next];
        if (reduced < distance[next]) {
          distance[next] = reduced;
          before[next] = column;
        }
        if (nearest == none || distance[next] < step) {
          step = distance[next];
          nearest = next;
        }
      }
      for (std::size_t next = 0; next <= size; ++next) {
        if (is_done[next] != 0) {
          row_price[row_of_column[next]] += step;
          column_price[next] -= step;
        } else if (next < size) {
          distance[next] -= step;
        }
      }
      column = nearest;
    }
    while (column != size) {
      row_of_column[column] = row_of_column[before[column]];
      column = before[column];
    }
  }
  std::vector<std::size_t> successor(size);
  for (std::size_t column = 0; column < size; ++column) successor[row_of_column[column]] = column;
  return successor;
}

class Ring {
 public:
  /// @param enough_Bps  rate of a pair above which only its latency counts
  /// @param penalty_s  of a pair of half that rate, and of one between islands
  Ring(const Links& links, std::span<const std::int32_t> island_of_host, double enough_Bps,
       double penalty_s)
      : num_hosts_(links.num_hosts()), cost_s_(num_hosts_ * num_hosts_, 0.0) {
    for (std::size_t src = 0; src < num_hosts_; ++src) {
      for (std::size_t dst = 0; dst < num_hosts_; ++dst) {
        if (src == dst) continue;
        const double slower_ratio = std::max(0.0, enough_Bps / links.bandwidth_Bps(src, dst) - 1.0);
        const double crossing_ratio = island_of_host[src] != island_of_host[dst] ? 1.0 : 0.0;
        cost_s_[src * num_hosts_ + dst] =
            links.latency_s(src, dst) + penalty_s * (slower_ratio + crossing_ratio);
      }
    }
  }

  std::vector<std::int32_t> order() {
    begin();
    for (int pass = 0; pass < kMaxRingPasses && improve(); ++pass) continue;
    // Host 0 first: the same ring from wherever it was begun.
    std::rotate(order_.begin(), std::find(order_.begin(), order_.end(), std::size_t{0}),
                order_.end());
    return {order_.begin(), order_.end()};
  }

 private:
  [[nodiscard]] double cost_s(std::size_t src, std::size_t dst) const {
    return cost_s_[src * num_hosts_ + dst];
  }

  /// Joins the cycles of the cheapest successors, those first that cost the least to join.
  void begin() {
    std::vector<std::size_t> successor = cheapest_successors(cost_s_, num_hosts_);
    std::vector<std::size_t> cycle(num_hosts_, num_hosts_);
    std::size_t num_cycles = 0;
    for (std::size_t host = 0; host < num_hosts_; ++host) {
      if (cycle[host] != num_hosts_) continue;
      for (std::size_t next = host; cycle[next] == num_hosts_; next = successor[next]) {
        cycle[next] = num_cycles;
      }
      ++num_cycles;
    }
    for (; num_cycles > 1; --num_cycles) join_two(successor, cycle);
    std::size_t host = 0;
    for (std::size_t position = 0; position < num_hosts_; ++position) {
      order_.push_back(host);
      host = successor[host];
    }
  }

  /// Two hosts of different cycles take each other's successors.
  void join_two(std::vector<std::size_t>& successor, std::vector<std::size_t>& cycle) const {
    double best_s = kInfinity;
    std::size_t one = 0;
    std::size_t other = 0;
    for (std::size_t first = 0; first < num_hosts_; ++first) {
      for (std::size_t second = first + 1; second < num_hosts_; ++second) {
        if (cycle[first] == cycle[second]) continue;
        const double added_s = cost_s(first, successor[second]) + cost_s(second, successor[first]) -
                               cost_s(first, successor[first]) - cost_s(second, successor[second]);
        if (added_s >= best_s) continue;
        best_s = added_s;
        one = first;
        other = second;
      }
    }
    std::swap(successor[one], successor[other]);
    std::replace(cycle.begin(), cycle.end(), std::size_t{cycle[other]}, std::size_t{cycle[one]});
  }

  /// Moves runs of up to three hosts between two others wherever that makes the ring shorter.
  bool improve() {
    bool is_better = false;
    for (std::size_t length = 1; length <= kLongestRun && length + 2 < num_hosts_; ++length) {
      for (std::size_t first = 0; first < num_hosts_; ++first) {
        is_better = move_run(first, length) || is_better;
      }
    }
    return is_better;
  }

  /// The run that begins at position `first`, wherever the ring is cut.
  bool move_run(std::size_t first, std::size_t length) {
    std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(first), order_.end());
    const std::size_t head = order_.front();
    const std::size_t tail = order_[length - 1];
    const std::size_t before = order_.back();
    const std::size_t after = order_[length];
    const double gain_s = cost_s(before, head) + cost_s(tail, after) - cost_s(before, after);
    double best_s = -1e-12;
    std::size_t best = 0;
    for (std::size_t place = length; place + 1 < num_hosts_; ++place) {
      const double added_s = cost_s(order_[place], head) + cost_s(tail, order_[place + 1]) -
                             cost_s(order_[place], order_[place + 1]);
      if (added_s - gain_s < best_s) {
        best_s = added_s - gain_s;
        best = place;
      }
    }
    if (best == 0) return false;
    std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(length),
                order_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    return true;
  }

  std::size_t num_hosts_;
  std::vector<double> cost_s_;
  std::vector<std::size_t> order_;
};

/// The slowest host's fastest pair: no ring is faster.
double needed_rate_Bps(const Links& links) {
  double needed_Bps = kInfinity;
  for (std::size_t host = 0; host < links.num_hosts(); ++host) {
    double out_Bps = 0.0;
    double in_Bps = 0.0;
    for (std::size_t peer = 0; peer < links.num_hosts(); ++peer) {
      if (peer == host) continue;
      out_Bps = std::max(out_Bps, links.bandwidth_Bps(host, peer));
      in_Bps = std::max(in_Bps, links.bandwidth_Bps(peer, host));
    }
    needed_Bps = std::min({needed_Bps, out_Bps, in_Bps});
  }
  return needed_Bps;
}

/// Each message passes all edges in turn; the slowest edge passes all messages one by one.
double pipelined_s(const Links& links, std::span<const std::int32_t> order, double part_bytes,
                   double num_messages) {
  double sum_s = 0.0;
  double slowest_s = 0.0;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const auto src = static_cast<std::size_t>(order[position]);
    const auto dst = static_cast<std::size_t>(order[(position + 1) % order.size()]);
    sum_s += links.latency_s(src, dst);
    slowest_s = std::max(slowest_s, part_bytes / links.bandwidth_Bps(src, dst));
  }
  return num_messages * slowest_s + sum_s;
}

}  // namespace

std::vector<std::int32_t> ring_order(const Links& links,
                                     std::span<const std::int32_t> island_of_host,
                                     double part_bytes, double num_messages) {
  if (links.num_hosts() == 1) return {0};
  const double needed_Bps = needed_rate_Bps(links);
  double longest_latency_s = 0.0;
  for (const double latency_s : links.latencies_s()) {
    longest_latency_s = std::max(longest_latency_s, latency_s);
  }
  // Slower pairs give a choice of shorter latencies, which is worth more the shorter a message is.
  std::vector<std::int32_t> best;
  double best_s = kInfinity;
  for (const double enough_ratio : {1.0, 0.9, 0.8, 0.65, 0.5}) {
    const double penalty_s = num_messages * part_bytes / needed_Bps + longest_latency_s;
    std::vector<std::int32_t> order =
        Ring(links, island_of_host, enough_ratio * needed_Bps, 2.0 * penalty_s).order();
    const double took_s = pipelined_s(links, order, part_bytes, num_messages);
    if (took_s >= best_s) continue;
    best_s = took_s;
    best = std::move(order);
  }
  return best;
}

}  // namespace fairlead::collectives
