// SPDX-License-Identifier: Apache-2.0
// The same workloads by SimGrid, another simulator, with the network interfaces as the only limit.
//
// SimGrid shares a link among all messages that are on it (max-min fairness), ours serves one
// after the other. So single messages end at other times, but a link that is busy carries as much
// in both, and what is asked for in the long run ends at the same time but for the last burst.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fairlead/sim/simulation.hpp"

namespace s4u = simgrid::s4u;
namespace sim = fairlead::sim;

namespace {

constexpr std::int64_t kNodes = 4;
constexpr double kNic_Bps = 1e9;
constexpr double kBound_ratio = 0.01;

constexpr sim::Machine kMachine{.num_nodes = kNodes,
                                .sockets_per_node = 1,
                                .cores_per_socket = 4,
                                .nic_Bps = kNic_Bps,
                                .memory_Bps = 1e18,
                                .remote_memory_ratio = 0,
                                .cache_Bps = 1e18,
                                .largest_cache_bytes = 0,
                                .switch_ns = 0};

/// Ranks dealt to the nodes in turn; rank r is core r / 4 of node r % 4.
struct Workload {
  std::string name;
  std::vector<sim::MessageStream> streams;

  void add(std::int64_t src_rank, std::int64_t dst_rank, std::int64_t bytes, double period_ns) {
    const auto core = [](std::int64_t rank) { return rank % kNodes * 4 + rank / kNodes; };
    streams.push_back({.job = 0,
                       .src_core = core(src_rank),
                       .dst_core = core(dst_rank),
                       .message_bytes = bytes,
                       .num_messages = 40,
                       .period_ns = period_ns,
                       .first_ns = 0});
  }
};

constexpr std::int64_t kRanks = 8;

Workload all_to_all(const std::string& name, double period_ns) {
  Workload workload{.name = name, .streams = {}};
  for (std::int64_t src = 0; src < kRanks; ++src) {
    for (std::int64_t dst = 0; dst < kRanks; ++dst) {
      if (src != dst) workload.add(src, dst, 1'000'000, period_ns);
    }
  }
  return workload;
}

/// One rank sends to all others, all others to another one, and each to the next.
Workload mixed(const std::string& name, double period_ns) {
  Workload workload{.name = name, .streams = {}};
  for (std::int64_t rank = 1; rank < kRanks; ++rank) {
    workload.add(0, rank, 1'000'000, period_ns);
    workload.add(rank - 1, rank, 300'000, period_ns);
    if (rank != 3) workload.add(rank, 3, 500'000, period_ns);
  }
  return workload;
}

double finished_here_s(const Workload& workload) {
  sim::Simulator simulator(kMachine, workload.streams, 1,
                           {.forwarding = sim::Forwarding::cut_through});
  while (simulator.advance(1000)) {
  }
  return static_cast<double>(simulator.jobs()[0].finish_ns) / 1e9;
}

/// Hosts with a link out and a link in each, for one workload.
std::vector<s4u::Host*> add_cluster(s4u::NetZone* zone, const std::string& name) {
  std::vector<s4u::Host*> hosts;
  std::vector<s4u::Link*> out, in;
  for (std::int64_t node = 0; node < kNodes; ++node) {
    const std::string host = name + "-" + std::to_string(node);
    hosts.push_back(zone->create_host(host, 1e9));
    out.push_back(zone->create_link(host + "-out", kNic_Bps)->set_latency(0)->seal());
    in.push_back(zone->create_link(host + "-in", kNic_Bps)->set_latency(0)->seal());
  }
  for (std::size_t src = 0; src < hosts.size(); ++src) {
    for (std::size_t dst = 0; dst < hosts.size(); ++dst) {
      if (src == dst) continue;
      zone->add_route(hosts[src]->get_netpoint(), hosts[dst]->get_netpoint(), nullptr, nullptr,
                      {s4u::LinkInRoute(out[src]), s4u::LinkInRoute(in[dst])}, false);
    }
  }
  return hosts;
}

/// Sends a stream's messages at their times, and returns when the last one was there.
void send(const sim::MessageStream& stream, s4u::Host* src, s4u::Host* dst, double* finish_s) {
  std::vector<s4u::CommPtr> on_their_way;
  for (std::int64_t message = 0; message < stream.num_messages; ++message) {
    s4u::this_actor::sleep_until(static_cast<double>(message) * stream.period_ns / 1e9);
    on_their_way.push_back(
        s4u::Comm::sendto_async(src, dst, static_cast<std::uint64_t>(stream.message_bytes)));
  }
  for (const s4u::CommPtr& comm : on_their_way) comm->wait();
  *finish_s = std::max(*finish_s, s4u::Engine::get_clock());
}

/// All workloads in one run of SimGrid, each on a cluster of its own.
std::vector<double> finished_in_simgrid_s(const std::vector<Workload>& workloads) {
  int num_arguments = 1;
  std::string program = "test_simgrid";
  char* arguments[] = {program.data(), nullptr};
  s4u::Engine engine(&num_arguments, arguments);
  // Bare links: no overhead of TCP, no window, no traffic of acks.
  for (const char* option :
       {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
        "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0"}) {
    s4u::Engine::set_config(option);
  }
  s4u::NetZone* zone = s4u::create_full_zone("all");
  std::vector<double> finish_s(workloads.size(), 0.0);
  for (std::size_t index = 0; index < workloads.size(); ++index) {
    const std::vector<s4u::Host*> hosts = add_cluster(zone, workloads[index].name);
    for (const sim::MessageStream& stream : workloads[index].streams) {
      s4u::Host* const src =
          hosts[static_cast<std::size_t>(kMachine.node_of_core(stream.src_core))];
      s4u::Host* const dst =
          hosts[static_cast<std::size_t>(kMachine.node_of_core(stream.dst_core))];
      if (src == dst) continue;
      double* const finish = &finish_s[index];
      s4u::Actor::create("stream", src,
                         [stream, src, dst, finish]() { send(stream, src, dst, finish); });
    }
  }
  zone->seal();
  engine.run();
  return finish_s;
}

}  // namespace

TEST_CASE("simulation: workloads end when SimGrid says, within 1 %") {
  // 12 messages of 1 ms leave each node in a period of all-to-all; out of node 0 come 7.1 ms of
  // the mixed workload, and 3.3 ms of it enter node 3.
  const std::vector<Workload> workloads{all_to_all("half-loaded", 24e6), all_to_all("loaded", 13e6),
                                        all_to_all("overloaded", 6e6), mixed("mixed-loaded", 10e6),
                                        mixed("mixed-overloaded", 3e6)};

  const std::vector<double> expected_s = finished_in_simgrid_s(workloads);

  for (std::size_t index = 0; index < workloads.size(); ++index) {
    CAPTURE(workloads[index].name);
    REQUIRE(finished_here_s(workloads[index]) == Approx(expected_s[index]).epsilon(kBound_ratio));
  }
}
