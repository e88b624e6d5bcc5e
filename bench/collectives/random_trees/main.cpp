// SPDX-License-Identifier: Apache-2.0
// Predicts the time of an operation along random trees: how many are faster than given times?
//
// random_trees OPERATION BYTES TREES SEED TIME_S... < NETWORK
//
// NETWORK is raw doubles: number of hosts, latencies, bandwidths, what each NIC sends and receives.
// Prints the seconds of the fastest tree and, for each TIME_S, how many are faster.
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
  std::vector<double> latency_s, bandwidth_Bps, out_Bps, in_Bps;

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

  double best_s = std::numeric_limits<double>::infinity();
  for (std::uint64_t tree = 0; tree < num_trees; ++tree) {
    trees.draw(schedule.trees.front());
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
