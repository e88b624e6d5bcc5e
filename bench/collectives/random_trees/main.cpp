// SPDX-License-Identifier: Apache-2.0
// Predicts the time of an operation along random trees: how many are faster than given times?
//
// random_trees OPERATION BYTES TREES SEED TIME_S... < NETWORK
//
// NETWORK is raw doubles: number of hosts, latencies, bandwidths, what each NIC sends and receives.
// Prints the seconds of the fastest tree and, for each TIME_S, how many are faster. A tree whose
// longest path alone takes longer than all of these is not simulated: that is most of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "collectives/links.hpp"
#include "collectives/program.hpp"
#include "fairlead/collectives/schedule.hpp"

namespace {

using fairlead::collectives::Form;
using fairlead::collectives::Links;
using fairlead::collectives::Operation;
using fairlead::collectives::ParentOfHost;
using fairlead::collectives::Schedule;

/// A network without groups, and the room for it.
struct Network {
  std::size_t num_hosts;
  std::vector<double> latency_s{}, bandwidth_Bps{}, out_Bps{}, in_Bps{};

  [[nodiscard]] fairlead::MeasuredNetwork view() const {
    return {.latency_s = {num_hosts, latency_s},
            .bandwidth_Bps = {num_hosts, bandwidth_Bps},
            .nic_out_Bps = out_Bps,
            .nic_in_Bps = in_Bps};
  }
};

std::vector<double> read_doubles(std::size_t count) {
  std::vector<double> values(count);
  if (std::fread(values.data(), sizeof(double), count, stdin) != count) {
    std::fprintf(stderr, "random_trees: the network ends early\n");
    std::exit(1);
  }
  return values;
}

Network read_network() {
  const auto num_hosts = static_cast<std::size_t>(read_doubles(1).front());
  Network network{.num_hosts = num_hosts};
  network.latency_s = read_doubles(num_hosts * num_hosts);
  network.bandwidth_Bps = read_doubles(num_hosts * num_hosts);
  network.out_Bps = read_doubles(num_hosts);
  network.in_Bps = read_doubles(num_hosts);
  return network;
}

/// Trees from host 0 in which each host's parent is any that came before it in a random order.
class RandomTrees {
 public:
  RandomTrees(std::size_t num_hosts, std::uint64_t seed) : random_(seed), hosts_(num_hosts) {
    std::iota(hosts_.begin(), hosts_.end(), 0);
  }

  /// Hosts in an order in which parents come before their children.
  [[nodiscard]] const std::vector<std::int32_t>& hosts() const { return hosts_; }

  void draw(ParentOfHost& parent_of_host) {
    std::shuffle(hosts_.begin() + 1, hosts_.end(), random_);
    for (std::size_t place = 1; place < hosts_.size(); ++place) {
      std::uniform_int_distribution<std::size_t> earlier(0, place - 1);
      parent_of_host[static_cast<std::size_t>(hosts_[place])] = hosts_[earlier(random_)];
    }
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::int32_t> hosts_;
};

/// Along one tree: whole messages, or the blocks of a subtree in one.
Schedule along_a_tree(Operation operation, std::uint64_t message_bytes, std::size_t num_hosts) {
  const bool is_split = is_supported(operation, Form::split_tree);
  Schedule schedule;
  schedule.operation = operation;
  schedule.form = is_split ? Form::split_tree : Form::forest;
  schedule.num_hosts = static_cast<std::int32_t>(num_hosts);
  schedule.root = 0;
  schedule.message_bytes = message_bytes;
  schedule.trees = {ParentOfHost(num_hosts, fairlead::collectives::kNoHost)};
  schedule.window = 1;
  if (!is_split) schedule.segments = {{}};
  return schedule;
}

/// The prediction shares rates to within a thousandth.
constexpr double kTolerance = 0.01;

/// No message over the tree arrives before those on its way could have done so one by one, nor
/// before the NIC of the host that sends or receives it has carried what it shares with others.
class LeastTime {
 public:
  LeastTime(const Schedule& schedule, const Links& links)
      : links_(links),
        is_upwards_(schedule.operation == Operation::reduce ||
                    schedule.operation == Operation::gather),
        is_split_(schedule.form == Form::split_tree),
        message_bytes_(static_cast<double>(schedule.message_bytes)) {}

  double least_s(const std::vector<std::int32_t>& hosts, const ParentOfHost& parent_of_host) {
    const std::size_t num_hosts = hosts.size();
    edge_bytes_.assign(num_hosts, message_bytes_);
    port_bytes_.assign(num_hosts, 0.0);
    least_s_.assign(num_hosts, 0.0);
    for (std::size_t place = num_hosts - 1; place > 0; --place) {
      const auto host = static_cast<std::size_t>(hosts[place]);
      const auto parent = static_cast<std::size_t>(parent_of_host[host]);
      if (is_split_) edge_bytes_[parent] += edge_bytes_[host];
      port_bytes_[parent] += edge_bytes_[host];
    }
    double longest_s = 0.0;
    for (const std::int32_t at : hosts) {
      const auto host = static_cast<std::size_t>(at);
      if (parent_of_host[host] != fairlead::collectives::kNoHost) {
        const auto parent = static_cast<std::size_t>(parent_of_host[host]);
        least_s_[host] =
            least_s_[parent] + (is_upwards_ ? links_.transfer_s(host, parent, edge_bytes_[host])
                                            : links_.transfer_s(parent, host, edge_bytes_[host]));
      }
      const double port_Bps = is_upwards_ ? links_.in_Bps(host) : links_.out_Bps(host);
      longest_s = std::max(longest_s, least_s_[host] + port_bytes_[host] / port_Bps);
    }
    return longest_s;
  }

 private:
  const Links& links_;
  bool is_upwards_, is_split_;
  double message_bytes_;
  std::vector<double> edge_bytes_;  ///< to or from each host's parent
  std::vector<double> port_bytes_;  ///< to or from each host's children
  std::vector<double> least_s_;     ///< between each host and the root
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const Network network = read_network();
  const Links links(network.view());
  Schedule schedule = along_a_tree(fairlead::collectives::operation_of(argv[1]),
                                   std::strtoull(argv[2], nullptr, 10), network.num_hosts);
  const std::uint64_t num_trees = std::strtoull(argv[3], nullptr, 10);
  RandomTrees trees(network.num_hosts, std::strtoull(argv[4], nullptr, 10));
  std::vector<double> times_s;
  for (int index = 5; index < argc; ++index) times_s.push_back(std::atof(argv[index]));
  std::vector<std::uint64_t> num_faster(times_s.size(), 0);

  LeastTime least_time(schedule, links);
  double best_s = std::numeric_limits<double>::infinity();
  double longest_s = 0.0;
  for (const double time_s : times_s) longest_s = std::max(longest_s, time_s);
  for (std::uint64_t tree = 0; tree < num_trees; ++tree) {
    trees.draw(schedule.trees.front());
    const double least_s = least_time.least_s(trees.hosts(), schedule.trees.front());
    if (least_s > (1.0 + kTolerance) * std::max(best_s, longest_s)) continue;
    const double time_s = fairlead::collectives::predicted_s(schedule, links);
    best_s = std::min(best_s, time_s);
    for (std::size_t index = 0; index < times_s.size(); ++index) {
      if (time_s < times_s[index]) ++num_faster[index];
    }
  }
  std::printf("%.9g", best_s);
  for (const std::uint64_t count : num_faster) {
    std::printf(" %llu", static_cast<unsigned long long>(count));
  }
  std::printf("\n");
}
