// SPDX-License-Identifier: Apache-2.0
// Trees grow in turns, one edge at a time, the earliest arrival first.
#include "collectives/trees/tree_growth.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <map>

namespace fairlead::collectives {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;
constexpr std::int32_t kNoTree = -1;

/// What an edge may do that a better one would not. Later ones are tried when earlier ones fail.
enum class Relaxation : std::uint8_t {
  own_parents,  ///< only hosts that belong to the tree have children in it
  any_parents,  ///< any host with capacity left
  crossing,     ///< islands are entered again
  overload,     ///< more than NICs, pairs and groups carry
};

struct Edge {
  std::size_t parent = 0;
  std::size_t child = 0;
  double arrival_s = kInfinity;
};

struct Tree {
  std::vector<double> arrival_s;          // of each host; infinite where the tree has not come yet
  std::vector<std::size_t> hosts;         // reached, in this order
  std::vector<std::int32_t> num_fresh;    // of each island: hosts that may still join as parents
  std::vector<char> is_entered;           // of each island
  std::vector<std::int32_t> num_missing;  // of each island: hosts not reached yet
  ParentOfHost parent_of_host;
  std::int32_t num_exits = 0;  // crossings out of the root's island
  double root_left_Bps = 0.0;
};

class Growth {
 public:
  Growth(const TreeLinks& links, std::span<const std::int32_t> island_of_host,
         std::span<const std::int32_t> root_of_tree, const GrowthOptions& options)
      : links_(links),
        options_(options),
        island_of_host_(island_of_host.begin(), island_of_host.end()),
        root_of_tree_(root_of_tree.begin(), root_of_tree.end()),
        tree_Bps_(options.message_Bps / options.num_trees),
        tree_of_host_(links.num_hosts(), kNoTree),
        left_Bps_(links.num_hosts()),
        trees_(static_cast<std::size_t>(options.num_trees)) {
    num_islands_ = static_cast<std::size_t>(
        *std::max_element(island_of_host_.begin(), island_of_host_.end()) + 1);
    for (std::size_t host = 0; host < left_Bps_.size(); ++host) {
      left_Bps_[host] = links.capacity_Bps(host, options.message_Bps);
    }
    for (std::size_t group = 0; group < links.links().num_groups(); ++group) {
      group_left_Bps_.push_back(links.links().group_Bps(group));
    }
    measure_hops();
    count_spare();
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) plant(tree);
  }

  std::vector<ParentOfHost> grow_all() {
    using enum Relaxation;
    std::size_t num_missing = trees_.size() * (left_Bps_.size() - 1);
    while (num_missing > 0) {
      std::size_t num_grown = 0;
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        if (grow(tree, own_parents)) ++num_grown;
      }
      // Only what no tree can use itself is free for others.
      if (num_grown == 0) num_grown = grow_any({any_parents});
      if (num_grown == 0) num_grown = exchange_any();
      if (num_grown == 0) num_grown = grow_any({crossing, overload});
      num_missing -= num_grown;
    }
    std::vector<ParentOfHost> parents;
    for (Tree& tree : trees_) parents.push_back(std::move(tree.parent_of_host));
    return parents;
  }

 private:
  [[nodiscard]] std::size_t island(std::size_t host) const {
    return static_cast<std::size_t>(island_of_host_[host]);
  }
  [[nodiscard]] std::int32_t num_slots(double left_Bps) const {
    return static_cast<std::int32_t>(std::floor(left_Bps / tree_Bps_ + kRounding));
  }
  [[nodiscard]] bool is_root(std::size_t tree, std::size_t host) const {
    return static_cast<std::size_t>(root_of_tree_[tree]) == host;
  }
  [[nodiscard]] bool is_root_of_any(std::size_t host) const {
    return std::find(root_of_tree_.begin(), root_of_tree_.end(), static_cast<std::int32_t>(host)) !=
           root_of_tree_.end();
  }

  /// Edges that hosts of an island can have beyond those that reach all of its own hosts.
  void count_spare() {
    num_spare_.assign(num_islands_, 0);
    for (std::size_t host = 0; host < left_Bps_.size(); ++host) {
      num_spare_[island(host)] += num_slots(left_Bps_[host]) - options_.num_trees;
    }
    for (std::int32_t& spare : num_spare_) spare += options_.num_trees;
  }

  /// Begins a tree at its root, and deals the island's hosts that it may make parents.
  void plant(std::size_t index) {
    Tree& tree = trees_[index];
    const std::size_t num_hosts = left_Bps_.size();
    const auto root = static_cast<std::size_t>(root_of_tree_[index]);
    tree.arrival_s.assign(num_hosts, kInfinity);
    tree.arrival_s[root] = 0.0;
    tree.hosts = {root};
    tree.parent_of_host.assign(num_hosts, kNoHost);
    tree.is_entered.assign(num_islands_, 0);
    tree.is_entered[island(root)] = 1;
    tree.num_missing.assign(num_islands_, 0);
    tree.num_fresh.assign(num_islands_, 0);
    const auto num_trees = trees_.size();
    std::vector<std::size_t> num_dealt(num_islands_, 0);
    for (std::size_t host = 0; host < num_hosts; ++host) {
      if (host != root) ++tree.num_missing[island(host)];
      if (is_root_of_any(host)) continue;
      // Islands begin with another tree each, so that none gets the last hosts everywhere.
      if ((num_dealt[island(host)]++ + island(host)) % num_trees == index) {
        ++tree.num_fresh[island(host)];
      }
    }
    const auto same_root = static_cast<double>(
        std::count(root_of_tree_.begin(), root_of_tree_.end(), root_of_tree_[index]));
    tree.root_left_Bps = left_Bps_[root] / same_root;
  }

  [[nodiscard]] double left_Bps(std::size_t tree, std::size_t host) const {
    return is_root(tree, host) ? std::min(trees_[tree].root_left_Bps, left_Bps_[host])
                               : left_Bps_[host];
  }

  /// Until a segment has arrived at the child, once it is at the parent: for all pairs.
  void measure_hops() {
    const std::size_t num_hosts = links_.num_hosts();
    const double segment_bytes = options_.segment_bytes * (links_.is_both_ways() ? 2.0 : 1.0);
    hop_s_.assign(num_hosts * num_hosts, 0.0);
    pair_left_Bps_.assign(num_hosts * num_hosts, 0.0);
    const double usual_s = links_.usual_latency_s();
    for (std::size_t parent = 0; parent < num_hosts; ++parent) {
      for (std::size_t child = 0; child < num_hosts; ++child) {
        if (parent == child) continue;
        const double pair_Bps = links_.bandwidth_Bps(parent, child);
        pair_left_Bps_[parent * num_hosts + child] = pair_Bps;
        const double rate_Bps = std::min(tree_Bps_, pair_Bps / options_.headroom_ratio);
        // Flows of one NIC share it by their latencies.
        const double longer_ratio = std::max(0.0, links_.latency_s(parent, child) / usual_s - 1.0);
        hop_s_[parent * num_hosts + child] =
            links_.latency_s(parent, child) +
            segment_bytes / rate_Bps * (1.0 + options_.latency_sharing * longer_ratio);
      }
    }
  }

  [[nodiscard]] double hop_s(std::size_t parent, std::size_t child) const {
    return hop_s_[parent * left_Bps_.size() + child];
  }

  /// One edge of any tree, with as little relaxation as there is need for.
  std::size_t grow_any(std::initializer_list<Relaxation> relaxations) {
    for (const Relaxation relaxation : relaxations) {
      for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
        if (grow(tree, relaxation)) return 1;
      }
    }
    return 0;
  }

  std::size_t exchange_any() {
    for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
      if (exchange(tree)) return 1;
    }
    return 0;
  }

  /// Where only hosts that the tree has not reached could add an edge: one of them takes the place
  /// of a leaf of its island, which becomes its child.
  bool exchange(std::size_t index) {
    const Tree& tree = trees_[index];
    std::vector<char> is_parent(left_Bps_.size(), 0);
    for (const std::int32_t parent : tree.parent_of_host) {
      if (parent != kNoHost) is_parent[static_cast<std::size_t>(parent)] = 1;
    }
    Edge best;
    for (std::size_t host = 0; host < left_Bps_.size(); ++host) {
      if (tree.arrival_s[host] != kInfinity || num_slots(left_Bps_[host]) == 0) continue;
      for (const std::size_t leaf : tree.hosts) {
        if (is_parent[leaf] != 0 || island(leaf) != island(host) || is_root(index, leaf)) continue;
        const auto parent = static_cast<std::size_t>(tree.parent_of_host[leaf]);
        if (island(parent) != island(leaf) || !is_carried(parent, host) ||
            !is_carried(host, leaf)) {
          continue;
        }
        const double arrival_s = tree.arrival_s[parent] + hop_s(parent, host) + hop_s(host, leaf);
        if (arrival_s < best.arrival_s) best = {host, leaf, arrival_s};
      }
    }
    if (best.arrival_s == kInfinity) return false;
    const auto parent = static_cast<std::size_t>(tree.parent_of_host[best.child]);
    put_back(index, {parent, best.child});
    take(index, {parent, best.parent});
    take(index, best);
    return true;
  }

  /// Undoes an edge inside an island to a host that has no children.
  void put_back(std::size_t index, const Edge& edge) {
    Tree& tree = trees_[index];
    ++tree.num_missing[island(edge.child)];
    tree.arrival_s[edge.child] = kInfinity;
    tree.parent_of_host[edge.child] = kNoHost;
    tree.hosts.erase(std::find(tree.hosts.begin(), tree.hosts.end(), edge.child));
    use(index, edge, -tree_Bps_);
  }

  /// Takes capacity of NIC, pair and groups, or gives it back.
  void use(std::size_t index, const Edge& edge, double rate_Bps) {
    left_Bps_[edge.parent] -= rate_Bps;
    pair_left_Bps_[edge.parent * left_Bps_.size() + edge.child] -= rate_Bps;
    if (is_root(index, edge.parent)) trees_[index].root_left_Bps -= rate_Bps;
    links_.for_each_group(edge.parent, edge.child, [&](std::int32_t group) {
      group_left_Bps_[static_cast<std::size_t>(group)] -= rate_Bps;
    });
  }

  bool grow(std::size_t index, Relaxation relaxation) {
    const Edge edge = best_edge(index, relaxation);
    if (edge.arrival_s == kInfinity) return false;
    take(index, edge);
    return true;
  }

  [[nodiscard]] Edge best_edge(std::size_t index, Relaxation relaxation) const {
    const Tree& tree = trees_[index];
    std::vector<std::int32_t> num_open(num_islands_, 0);  // edges that the tree can still add
    std::vector<std::size_t> parents;
    for (const std::size_t host : tree.hosts) {
      const bool is_own =
          is_root(index, host) || tree_of_host_[host] == static_cast<std::int32_t>(index);
      if (!is_own && relaxation == Relaxation::own_parents) continue;
      const std::int32_t open = num_slots(left_Bps(index, host));
      if (open == 0 && relaxation != Relaxation::overload) continue;
      num_open[island(host)] += open;
      parents.push_back(host);
    }
    std::stable_sort(parents.begin(), parents.end(), [&tree](std::size_t left, std::size_t right) {
      return tree.arrival_s[left] < tree.arrival_s[right];
    });
    std::map<int, std::vector<std::size_t>> children_of_rank;
    for (std::size_t child = 0; child < left_Bps_.size(); ++child) {
      if (tree.arrival_s[child] == kInfinity)
        children_of_rank[rank_of(index, child)].push_back(child);
    }
    Edge best;
    for (const auto& [rank, children] : children_of_rank) {
      for (const std::size_t parent : parents) {
        // Nothing arrives before it has arrived at the parent.
        if (tree.arrival_s[parent] >= best.arrival_s) break;
        for (const std::size_t child : children) {
          Edge edge{parent, child, tree.arrival_s[parent] + hop_s(parent, child)};
          if (edge.arrival_s >= best.arrival_s) continue;
          if (relaxation == Relaxation::overload) {
            edge.arrival_s += overload_s(index, parent, child);
          } else if (!may_take(index, edge, relaxation, num_open)) {
            continue;
          }
          if (edge.arrival_s < best.arrival_s) best = edge;
        }
      }
      if (best.arrival_s < kInfinity) break;
    }
    return best;
  }

  [[nodiscard]] bool may_take(std::size_t index, const Edge& edge, Relaxation relaxation,
                              const std::vector<std::int32_t>& num_open) const {
    const Tree& tree = trees_[index];
    const std::size_t from = island(edge.parent);
    const std::size_t to = island(edge.child);
    if (from != to && relaxation < Relaxation::crossing) {
      if (tree.is_entered[to] != 0) return false;
      // What is left has to reach the hosts at home, and every tree has to get out of here.
      if (tree.num_missing[from] > 0 && num_open[from] <= 1) return false;
      if (num_spare_[from] - num_reserved(index, from) <= 0) return false;
    }
    return is_carried(edge.parent, edge.child);
  }

  /// Whether pair and groups have the rate of a tree left.
  [[nodiscard]] bool is_carried(std::size_t parent, std::size_t child) const {
    const double needed_Bps = tree_Bps_ * (1.0 - kRounding);
    bool is_enough = pair_left_Bps_[parent * left_Bps_.size() + child] >= needed_Bps;
    links_.for_each_group(parent, child, [&](std::int32_t group) {
      if (group_left_Bps_[static_cast<std::size_t>(group)] < needed_Bps) is_enough = false;
    });
    return is_enough;
  }

  /// Trees other than this one that begin in the island and have not left it yet.
  [[nodiscard]] std::int32_t num_reserved(std::size_t index, std::size_t from) const {
    std::int32_t num = 0;
    for (std::size_t other = 0; other < trees_.size(); ++other) {
      if (other == index || trees_[other].num_exits > 0) continue;
      num += island(static_cast<std::size_t>(root_of_tree_[other])) == from ? 1 : 0;
    }
    return num;
  }

  [[nodiscard]] bool is_fresh(std::size_t index, std::size_t host) const {
    return tree_of_host_[host] == kNoTree && !is_root_of_any(host) &&
           trees_[index].num_fresh[island(host)] > 0;
  }

  /// The lower comes first, whatever its arrival: new islands, those that can be left again before
  /// others; then parents of this tree; then hosts that are leaves in it.
  [[nodiscard]] int rank_of(std::size_t index, std::size_t child) const {
    const std::size_t to = island(child);
    const bool is_new_parent = is_fresh(index, child);
    if (trees_[index].is_entered[to] == 0) {
      const int spare = std::clamp(num_spare_[to], 0, 8);
      return (is_new_parent ? 0 : 10) + 8 - spare;
    }
    return is_new_parent ? 20 : 21;
  }

  [[nodiscard]] double overload_s(std::size_t index, std::size_t parent, std::size_t child) const {
    const double pair_Bps = links_.bandwidth_Bps(parent, child);
    const double pair_left_Bps = pair_left_Bps_[parent * left_Bps_.size() + child];
    double worst_ratio = (pair_Bps - pair_left_Bps + tree_Bps_) / pair_Bps;
    const double capacity_Bps = links_.capacity_Bps(parent, options_.message_Bps);
    const double used_Bps = capacity_Bps - left_Bps(index, parent);
    worst_ratio = std::max(worst_ratio, (used_Bps + tree_Bps_) / std::max(capacity_Bps, kRounding));
    links_.for_each_group(parent, child, [&](std::int32_t group) {
      const auto number = static_cast<std::size_t>(group);
      const double group_Bps = links_.links().group_Bps(number);
      worst_ratio =
          std::max(worst_ratio, (group_Bps - group_left_Bps_[number] + tree_Bps_) / group_Bps);
    });
    // As much as the whole message takes longer, in units of a thousand segments.
    return worst_ratio * 1000.0 * options_.segment_bytes / options_.message_Bps;
  }

  void take(std::size_t index, const Edge& edge) {
    Tree& tree = trees_[index];
    const std::size_t from = island(edge.parent);
    const std::size_t to = island(edge.child);
    if (is_fresh(index, edge.child)) {
      tree_of_host_[edge.child] = static_cast<std::int32_t>(index);
      --tree.num_fresh[to];
    }
    if (from != to) {
      --num_spare_[from];
      if (from == island(static_cast<std::size_t>(root_of_tree_[index]))) ++tree.num_exits;
    }
    tree.is_entered[to] = 1;
    --tree.num_missing[to];
    tree.arrival_s[edge.child] = tree.arrival_s[edge.parent] + hop_s(edge.parent, edge.child);
    tree.parent_of_host[edge.child] = static_cast<std::int32_t>(edge.parent);
    tree.hosts.push_back(edge.child);
    use(index, edge, tree_Bps_);
  }

  const TreeLinks& links_;
  const GrowthOptions options_;
  std::vector<std::int32_t> island_of_host_;
  std::vector<std::int32_t> root_of_tree_;
  double tree_Bps_;
  std::size_t num_islands_ = 0;
  std::vector<std::int32_t> tree_of_host_;  // the tree in which it has children
  std::vector<double> left_Bps_;            // of each host, for children
  std::vector<double> group_left_Bps_;
  std::vector<double> hop_s_, pair_left_Bps_;  // (H, H), [parent, child]
  std::vector<std::int32_t> num_spare_;        // of each island
  std::vector<Tree> trees_;
};

}  // namespace

std::vector<ParentOfHost> grow_trees(const TreeLinks& links,
                                     std::span<const std::int32_t> island_of_host,
                                     std::span<const std::int32_t> root_of_tree,
                                     const GrowthOptions& options) {
  return Growth(links, island_of_host, root_of_tree, options).grow_all();
}

}  // namespace fairlead::collectives
