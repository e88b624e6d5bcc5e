// SPDX-License-Identifier: Apache-2.0
// Times of a bcast or scatter along many random trees, by a recursion over each tree.
//
// random_trees OPERATION TREES SEED [parents] < CLUSTER
//
// CLUSTER is raw doubles: number of hosts, root, bytes of a message, what a NIC sends a second;
// processes of each host; latencies and bandwidths of all pairs. Prints the seconds of each
// tree as raw doubles, with `parents` and then the parent of each host. Independent of the planner
// and its prediction: it knows no more than the paper's M = L + m / B (section 4.1) and how a host
// shares its NIC. `cmpi_items/trees.py` holds it against SimGrid on a sample.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace {

std::vector<double> read_doubles(std::size_t count) {
  std::vector<double> values(count);
  if (std::fread(values.data(), sizeof(double), count, stdin) != count) {
    std::fprintf(stderr, "random_trees: the cluster ends early\n");
    std::exit(1);
  }
  return values;
}

struct Cluster {
  std::size_t num_hosts, root;
  double message_bytes, nic_Bps;
  std::vector<double> num_ranks{}, latency_s{}, bandwidth_Bps{};

  [[nodiscard]] std::size_t pair(std::size_t src, std::size_t dst) const {
    return src * num_hosts + dst;
  }
};

Cluster read_cluster() {
  const auto head = read_doubles(4);
  Cluster cluster{.num_hosts = static_cast<std::size_t>(head[0]),
                  .root = static_cast<std::size_t>(head[1]),
                  .message_bytes = head[2],
                  .nic_Bps = head[3]};
  const std::size_t num_pairs = cluster.num_hosts * cluster.num_hosts;
  cluster.num_ranks = read_doubles(cluster.num_hosts);
  cluster.latency_s = read_doubles(num_pairs);
  cluster.bandwidth_Bps = read_doubles(num_pairs);
  return cluster;
}

/// Fast random numbers. Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators
/// (2014), figure 16.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// One of 0 .. count - 1, to within a share of 2^-32.
  std::size_t below(std::size_t count) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = (state_ ^ (state_ >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return (((mixed ^ (mixed >> 31U)) >> 32U) * count) >> 32U;
  }

 private:
  std::uint64_t state_;
};

/// A tree from the root, in which each host's parent is any that came before it in a random order.
class Tree {
 public:
  Tree(const Cluster& cluster, std::uint64_t seed)
      : random_(seed),
        hosts_(cluster.num_hosts),
        parent_(cluster.num_hosts),
        children_(cluster.num_hosts),
        height_(cluster.num_hosts) {
    std::iota(hosts_.begin(), hosts_.end(), 0U);
    std::swap(hosts_.front(), hosts_[cluster.root]);
  }

  void draw() {
    for (auto& children : children_) children.clear();
    std::fill(height_.begin(), height_.end(), 0);
    for (std::size_t place = 1; place < hosts_.size(); ++place) {
      std::swap(hosts_[place], hosts_[place + random_.below(hosts_.size() - place)]);
      parent_[hosts_[place]] = hosts_[random_.below(place)];
      children_[parent_[hosts_[place]]].push_back(hosts_[place]);
    }
    for (std::size_t place = hosts_.size() - 1; place > 0; --place) {
      const std::size_t host = hosts_[place];
      height_[parent_[host]] = std::max(height_[parent_[host]], height_[host] + 1);
    }
    // The executors serve the highest subtree first.
    for (auto& children : children_) {
      std::sort(children.begin(), children.end(), [this](std::size_t left, std::size_t right) {
        return height_[left] != height_[right] ? height_[left] > height_[right] : left < right;
      });
    }
  }

  /// In an order in which parents come before their children.
  [[nodiscard]] const std::vector<std::size_t>& hosts() const { return hosts_; }
  [[nodiscard]] std::size_t parent(std::size_t host) const { return parent_[host]; }
  [[nodiscard]] const std::vector<std::size_t>& children(std::size_t host) const {
    return children_[host];
  }

 private:
  Random random_;
  std::vector<std::size_t> hosts_, parent_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<int> height_;
};

/// The whole message to one child after the other.
class Bcast {
 public:
  explicit Bcast(const Cluster& cluster)
      : transfer_s_(cluster.latency_s), has_s_(cluster.num_hosts), num_hosts_(cluster.num_hosts) {
    for (std::size_t pair = 0; pair < transfer_s_.size(); ++pair) {
      transfer_s_[pair] += cluster.message_bytes / cluster.bandwidth_Bps[pair];
    }
  }

  double time_s(const Tree& tree) {
    double last_s = 0.0;
    has_s_[tree.hosts().front()] = 0.0;
    for (const std::size_t host : tree.hosts()) {
      double free_s = has_s_[host];
      for (const std::size_t child : tree.children(host)) {
        has_s_[child] = free_s += transfer_s_[host * num_hosts_ + child];
      }
      last_s = std::max(last_s, free_s);
    }
    return last_s;
  }

 private:
  std::vector<double> transfer_s_, has_s_;
  std::size_t num_hosts_;
};

/// The blocks of each child's subtree in one message, to all children at once: they share the NIC
/// by the inverses of their latencies, each at most as fast as its pair.
class Scatter {
 public:
  explicit Scatter(const Cluster& cluster)
      : cluster_(cluster), subtree_bytes_(cluster.num_hosts), has_s_(cluster.num_hosts) {}

  double time_s(const Tree& tree) {
    for (const std::size_t host : tree.hosts()) {
      subtree_bytes_[host] = cluster_.num_ranks[host] * cluster_.message_bytes;
    }
    for (std::size_t place = tree.hosts().size() - 1; place > 0; --place) {
      const std::size_t host = tree.hosts()[place];
      subtree_bytes_[tree.parent(host)] += subtree_bytes_[host];
    }
    has_s_[tree.hosts().front()] = 0.0;
    double last_s = 0.0;
    for (const std::size_t host : tree.hosts()) last_s = std::max(last_s, send(host, tree));
    return last_s;
  }

 private:
  struct Flow {
    std::size_t child;
    double start_s, left_bytes, most_Bps, weight, rate_Bps;
  };

  /// Until all children have their messages.
  double send(std::size_t host, const Tree& tree) {
    double most_Bps = 0.0;
    for (const std::size_t child : tree.children(host)) {
      most_Bps += cluster_.bandwidth_Bps[cluster_.pair(host, child)];
    }
    return most_Bps <= cluster_.nic_Bps ? send_apart(host, tree) : send_sharing(host, tree);
  }

  /// The NIC holds none of them back.
  double send_apart(std::size_t host, const Tree& tree) {
    double last_s = has_s_[host];
    for (const std::size_t child : tree.children(host)) {
      const std::size_t pair = cluster_.pair(host, child);
      has_s_[child] = has_s_[host] + cluster_.latency_s[pair] +
                      subtree_bytes_[child] / cluster_.bandwidth_Bps[pair];
      last_s = std::max(last_s, has_s_[child]);
    }
    return last_s;
  }

  double send_sharing(std::size_t host, const Tree& tree) {
    flows_.clear();
    for (const std::size_t child : tree.children(host)) {
      const std::size_t pair = cluster_.pair(host, child);
      const double latency_s = cluster_.latency_s[pair];
      flows_.push_back({child, has_s_[host] + latency_s, subtree_bytes_[child],
                        cluster_.bandwidth_Bps[pair], 1.0 / latency_s, 0.0});
    }
    double now_s = has_s_[host];
    while (!flows_.empty()) {
      share(now_s);
      double next_s = std::numeric_limits<double>::infinity();
      for (const Flow& flow : flows_) {
        next_s = std::min(
            next_s, flow.start_s > now_s ? flow.start_s : now_s + flow.left_bytes / flow.rate_Bps);
      }
      for (Flow& flow : flows_) flow.left_bytes -= flow.rate_Bps * (next_s - now_s);
      now_s = next_s;
      std::erase_if(flows_, [&](const Flow& flow) {
        const bool is_done = flow.start_s < now_s && flow.left_bytes < 1e-3;
        if (is_done) has_s_[flow.child] = now_s;
        return is_done;
      });
    }
    return now_s;
  }

  /// Rates of the flows that have started; those that their pairs hold back leave more to others.
  void share(double now_s) {
    double left_Bps = cluster_.nic_Bps, weights = 0.0;
    for (Flow& flow : flows_) {
      flow.rate_Bps = 0.0;
      if (flow.start_s <= now_s) weights += flow.weight;
    }
    for (bool is_held = true; is_held;) {
      is_held = false;
      for (Flow& flow : flows_) {
        if (flow.start_s > now_s || flow.rate_Bps > 0.0) continue;
        if (flow.most_Bps > left_Bps * flow.weight / weights) continue;
        flow.rate_Bps = flow.most_Bps;
        left_Bps -= flow.most_Bps;
        weights -= flow.weight;
        is_held = true;
      }
    }
    for (Flow& flow : flows_) {
      if (flow.start_s <= now_s && flow.rate_Bps == 0.0) {
        flow.rate_Bps = left_Bps * flow.weight / weights;
      }
    }
  }

  const Cluster& cluster_;
  std::vector<double> subtree_bytes_, has_s_;
  std::vector<Flow> flows_;
};

template <typename Operation>
void print_times(const Cluster& cluster, std::uint64_t num_trees, std::uint64_t seed,
                 bool has_parents) {
  Operation operation(cluster);
  Tree tree(cluster, seed);
  for (std::uint64_t number = 0; number < num_trees; ++number) {
    tree.draw();
    const double time_s = operation.time_s(tree);
    std::fwrite(&time_s, sizeof(double), 1, stdout);
    if (!has_parents) continue;
    for (std::size_t host = 0; host < cluster.num_hosts; ++host) {
      const double parent = host == cluster.root ? -1.0 : static_cast<double>(tree.parent(host));
      std::fwrite(&parent, sizeof(double), 1, stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const Cluster cluster = read_cluster();
  const std::uint64_t num_trees = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t seed = std::strtoull(argv[3], nullptr, 10);
  const bool has_parents = argc > 4;
  if (std::strcmp(argv[1], "bcast") == 0) {
    print_times<Bcast>(cluster, num_trees, seed, has_parents);
  } else {
    print_times<Scatter>(cluster, num_trees, seed, has_parents);
  }
}
