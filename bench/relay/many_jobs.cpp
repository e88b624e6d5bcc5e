// SPDX-License-Identifier: Apache-2.0
// Many jobs on one network in SimGrid, each with or without relays; see many_jobs.py.
//
// The rule by which a message goes directly or by all paths is the messenger's own, by the clock of
// the simulation. A path takes the next segment when it has passed the last one on, so each carries
// what it can, and a relay sends one segment while it receives the next.
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paced_hosts.hpp"
#include "routing/slowdown_detector.hpp"
#include "routing/trial_rule.hpp"

namespace s4u = simgrid::s4u;
namespace relay = fairlead::relay;

namespace {

/// The messenger's rule for whole messages of one class (relay/endpoint/send_buffer.cpp).
struct Rule {
  relay::TrialRule choice;
  relay::SlowdownDetector detector{};
  relay::TransferMode last_mode = relay::TransferMode::mpi;

  relay::TransferMode next(std::uint64_t bytes, relay::Time now) {
    const bool is_slower = detector.add_message(now);
    if (const auto gap_s = detector.last_gap_s()) choice.add_interval(last_mode, *gap_s, now);
    if (is_slower) choice.note_slowdown(now);
    last_mode = choice.next(bytes, now);
    return last_mode;
  }
};

/// What a job knows of one of its messages; of each round, from one host to another.
struct Message {
  std::size_t job = 0;
  s4u::Host* src = nullptr;
  s4u::Host* dst = nullptr;
  std::vector<s4u::Host*> relays;  ///< Empty: it always goes directly.
  std::unique_ptr<Rule> rule;
};

struct Job {
  double start_s = 0, compute_s = 0;
  std::vector<Message> messages;
  s4u::BarrierPtr barrier;
  int num_rounds = 0;
  double end_s = 0;
};

struct Settings {
  double nic_Bps, uplink_Bps, latency_s, hop_s, horizon_s;
  std::uint64_t message_bytes, segment_bytes;
  /// "never", "learned" (the messenger's rule, and the routers'), "striped" (the same, but by all
  /// paths also where others fill the network), "unlimited" (the messenger's alone), "planned" (by
  /// the plan alone), or "idle" (the messenger's rule, by relays only whose interfaces carry
  /// nothing else)
  std::string mode;

  [[nodiscard]] bool learns() const { return mode != "never" && mode != "planned"; }
};

relay::Time now() {
  return relay::Time(std::chrono::duration_cast<relay::Clock::duration>(
      std::chrono::duration<double>(s4u::Engine::get_clock())));
}

/// Takes segments from `left_bytes` until none is left, or until a relay that has to be idle is
/// not.
void use_path(const Settings& settings, PacedHosts& hosts, const Message& message, s4u::Host* by,
              std::uint64_t* left_bytes) {
  const auto start = [&](s4u::Host* src, s4u::Host* dst, std::uint64_t bytes) {
    return hosts.start(message.job, src, dst, bytes, src == by);
  };
  std::optional<PacedHosts::Handle> last;
  while (*left_bytes > 0) {
    const int own = last ? 1 : 0;
    if (by != nullptr && settings.mode == "idle" && hosts.num_transfers(by) > own) break;
    const std::uint64_t bytes = std::min(*left_bytes, settings.segment_bytes);
    *left_bytes -= bytes;
    if (by == nullptr) {
      hosts.finish(start(message.src, message.dst, bytes));
      continue;
    }
    hosts.finish(start(message.src, by, bytes));
    if (last) hosts.finish(*last);
    s4u::this_actor::sleep_for(settings.hop_s);
    last = start(by, message.dst, bytes);
  }
  if (last) hosts.finish(*last);
}

void send_striped(const Settings& settings, PacedHosts& hosts, const Message& message) {
  std::uint64_t left_bytes = settings.message_bytes;
  std::vector<s4u::ActorPtr> paths;
  const auto start = [&settings, &hosts, &message, &left_bytes, &paths](s4u::Host* by) {
    paths.push_back(
        s4u::Actor::create("path", message.src, [&settings, &hosts, &message, &left_bytes, by]() {
          use_path(settings, hosts, message, by, &left_bytes);
        }));
  };
  start(nullptr);
  for (s4u::Host* by : message.relays) start(by);
  for (const s4u::ActorPtr& path : paths) path->join();
}

void send(const Settings& settings, PacedHosts& hosts, const Message& message) {
  const std::uint64_t bytes = settings.message_bytes;
  relay::TransferMode mode = relay::TransferMode::mpi;
  const bool learns = message.rule && settings.learns();
  if (learns) mode = message.rule->next(bytes, now());
  if (message.rule && settings.mode == "planned" && message.rule->choice.is_striping_worth(bytes)) {
    mode = relay::TransferMode::striped;
  }
  const double begin_s = s4u::Engine::get_clock();
  if (mode == relay::TransferMode::striped) {
    send_striped(settings, hosts, message);
  } else if (mode == relay::TransferMode::relayed) {
    std::uint64_t left_bytes = bytes;
    use_path(settings, hosts, message, message.relays.front(), &left_bytes);
  } else {
    hosts.finish(hosts.start(message.job, message.src, message.dst, bytes, false));
  }
  if (learns) message.rule->choice.learn(mode, bytes, s4u::Engine::get_clock() - begin_s, now());
}

/// One of a job's messages in each round; a round ends when all have arrived.
void repeat(const Settings& settings, PacedHosts& hosts, Job& job, const Message& message) {
  s4u::this_actor::sleep_until(job.start_s);
  while (s4u::Engine::get_clock() < settings.horizon_s) {
    s4u::this_actor::sleep_for(job.compute_s);
    send(settings, hosts, message);
    job.barrier->wait();
    if (&message == &job.messages.front()) {
      ++job.num_rounds;
      job.end_s = s4u::Engine::get_clock();
    }
  }
}

struct Network {
  s4u::NetZone* zone = s4u::create_full_zone("cloud");
  std::vector<s4u::Host*> hosts;
  std::vector<s4u::Link*> out, in, up, down;
  std::vector<std::size_t> rack_of_host;
  std::map<std::pair<std::size_t, std::size_t>, bool> has_route;
};

Network read_network(const Settings& settings) {
  Network network;
  std::size_t num_hosts = 0, num_racks = 0;
  std::cin >> num_hosts >> num_racks;
  const auto link = [&network](const std::string& name, double rate_Bps) {
    return network.zone->create_link(name, rate_Bps)->set_latency(0)->seal();
  };
  for (std::size_t rack = 0; rack < num_racks; ++rack) {
    network.up.push_back(link("up" + std::to_string(rack), settings.uplink_Bps));
    network.down.push_back(link("down" + std::to_string(rack), settings.uplink_Bps));
  }
  for (std::size_t host = 0; host < num_hosts; ++host) {
    std::size_t rack = 0;
    std::cin >> rack;
    network.rack_of_host.push_back(rack);
    const std::string name = "h" + std::to_string(host);
    network.hosts.push_back(network.zone->create_host(name, 1e9));
    network.out.push_back(link(name + "-out", settings.nic_Bps));
    network.in.push_back(link(name + "-in", settings.nic_Bps));
  }
  return network;
}

/// A pair's own rate limits each connection alone; interfaces and uplinks are shared.
void add_route(Network& network, const Settings& settings, std::size_t src, std::size_t dst,
               double rate_Bps) {
  if (src == dst || !network.has_route.try_emplace({src, dst}, true).second) return;
  const std::string name = std::to_string(src) + "-" + std::to_string(dst);
  auto* own = network.zone->create_link(name, rate_Bps);
  own->set_latency(settings.latency_s)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
  std::vector<s4u::LinkInRoute> links{s4u::LinkInRoute(network.out[src]),
                                      s4u::LinkInRoute(own->seal())};
  const std::size_t src_rack = network.rack_of_host[src], dst_rack = network.rack_of_host[dst];
  if (src_rack != dst_rack) {
    links.emplace_back(network.up[src_rack]);
    links.emplace_back(network.down[dst_rack]);
  }
  links.emplace_back(network.in[dst]);
  network.zone->add_route(network.hosts[src]->get_netpoint(), network.hosts[dst]->get_netpoint(),
                          nullptr, nullptr, links, false);
}

Job read_job(Network& network, const Settings& settings, std::size_t number_of_job) {
  Job job;
  std::size_t num_hosts = 0, num_messages = 0;
  std::cin >> job.start_s >> job.compute_s >> num_hosts;
  std::vector<std::size_t> hosts(num_hosts);
  for (std::size_t& host : hosts) std::cin >> host;
  for (const std::size_t src : hosts) {
    for (const std::size_t dst : hosts) {
      double rate_Bps = 0;
      std::cin >> rate_Bps;
      add_route(network, settings, src, dst, rate_Bps);
    }
  }
  std::cin >> num_messages;
  for (std::size_t index = 0; index < num_messages; ++index) {
    std::size_t src = 0, dst = 0, num_relays = 0;
    double direct_Bps = 0, direct_s = 0, all_Bps = 0, all_s = 0, relayed_Bps = 0, relayed_s = 0;
    std::cin >> src >> dst >> direct_Bps >> direct_s >> all_Bps >> all_s >> num_relays;
    if (num_relays > 0) std::cin >> relayed_Bps >> relayed_s;
    Message& message = job.messages.emplace_back();
    message.job = number_of_job;
    message.src = network.hosts[hosts[src]];
    message.dst = network.hosts[hosts[dst]];
    for (std::size_t number = 0; number < num_relays; ++number) {
      std::size_t by = 0;
      std::cin >> by;
      message.relays.push_back(network.hosts[hosts[by]]);
    }
    if (num_relays == 0) continue;
    relay::ModeRates planned{{direct_Bps, direct_s}, {all_Bps, all_s}};
    if (settings.mode != "striped") planned.relayed = relay::ModeRate(relayed_Bps, relayed_s);
    message.rule = std::make_unique<Rule>(Rule{{planned, relay::Time{}}});
  }
  job.barrier = s4u::Barrier::create(static_cast<unsigned>(job.messages.size()));
  return job;
}

}  // namespace

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  // Bare links: no overhead of TCP, no window, no traffic of acks.
  for (const char* option : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                             "network/bandwidth-factor:1", "network/latency-factor:1",
                             "network/weight-S:0", "contexts/stack-size:64"}) {
    s4u::Engine::set_config(option);
  }
  Settings settings;
  std::cin >> settings.mode >> settings.nic_Bps >> settings.uplink_Bps >> settings.latency_s >>
      settings.hop_s >> settings.horizon_s >> settings.message_bytes >> settings.segment_bytes;
  Network network = read_network(settings);
  std::size_t num_jobs = 0;
  std::cin >> num_jobs;
  std::vector<Job> jobs;
  for (std::size_t job = 0; job < num_jobs; ++job) {
    jobs.push_back(read_job(network, settings, job));
  }
  if (!std::cin) {
    std::cerr << "many_jobs: the input has ended too early\n";
    return 1;
  }
  network.zone->seal();
  PacedHosts hosts(settings.mode == "learned" || settings.mode == "striped");
  for (Job& job : jobs) {
    for (const Message& message : job.messages) {
      s4u::Actor::create("messages", message.src, [&settings, &hosts, &job, &message]() {
        repeat(settings, hosts, job, message);
      });
    }
  }
  s4u::Actor::create("routers", network.hosts.front(), [&hosts]() {
    while (true) {
      s4u::this_actor::sleep_for(PacedHosts::kInterval_s);
      hosts.sample();
    }
  })->daemonize();
  engine.run();
  for (const Job& job : jobs) std::cout << (job.end_s - job.start_s) / job.num_rounds << "\n";
  return 0;
}
