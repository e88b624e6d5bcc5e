// SPDX-License-Identifier: Apache-2.0
// The simulator against closed forms: one queue, a burst, a way through two interfaces.
#include "fairlead/sim/simulation.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catch.hpp"
#include "fairlead/error.hpp"

namespace sim = fairlead::sim;
using sim::Arrivals;
using sim::Forwarding;
using sim::Machine;
using sim::MessageStream;
using sim::Nic;
using sim::Options;
using sim::Simulator;

namespace {

// Two sockets of two cores a node: cores 0, 1 | 2, 3 are node 0; 4, 5 | 6, 7 are node 1.
constexpr Machine kMachine{.num_nodes = 4,
                           .sockets_per_node = 2,
                           .cores_per_socket = 2,
                           .nic_Bps = 1e9,
                           .memory_Bps = 4e9,
                           .remote_memory_ratio = 0.1,
                           .cache_Bps = 8e9,
                           .largest_cache_bytes = 1 << 20,
                           .switch_ns = 100};
constexpr std::size_t kSending = 0, kReceiving = 4, kMemory = 8, kCache = 16;

MessageStream stream(std::int64_t src_core, std::int64_t dst_core, std::int64_t bytes,
                     std::int64_t count = 1, double period_ns = 1e9, double first_ns = 0) {
  return {.job = 0,
          .src_core = src_core,
          .dst_core = dst_core,
          .message_bytes = bytes,
          .num_messages = count,
          .period_ns = period_ns,
          .first_ns = first_ns};
}

Simulator simulated(const std::vector<MessageStream>& streams, const Options& options = {},
                    const Machine& machine = kMachine) {
  Simulator simulator(machine, streams, 1, options);
  while (simulator.advance(1000)) {
  }
  return simulator;
}

}  // namespace

TEST_CASE("simulation: M/D/1 waits rho / (2 (1 - rho)) services, within 1 %") {
  // One Poisson stream into one interface; source: Pollaczek and Khinchine.
  constexpr std::int64_t kBytes = 1000;  // 1000 ns of service
  constexpr std::int64_t kMessages = 10'000'000;
  for (const double load : {0.5, 0.7, 0.9}) {
    const Simulator done = simulated({stream(0, 4, kBytes, kMessages, kBytes / load)},
                                     {.arrivals = Arrivals::poisson, .seed = 3});
    const double mean_wait_ns = done.servers()[kSending].waiting_s * 1e9 / kMessages;
    const double expected_ns = kBytes * load / (2 * (1 - load));
    REQUIRE(mean_wait_ns == Approx(expected_ns).epsilon(0.01));
  }
}

TEST_CASE("simulation: a burst of n messages waits n (n - 1) / 2 services, exactly") {
  // Three cores of a node send 5 messages each at once: 15 in one queue, each 2000 ns.
  std::vector<MessageStream> streams;
  for (std::int64_t core = 0; core < 3; ++core) {
    for (int copy = 0; copy < 5; ++copy) streams.push_back(stream(core, 4 + core, 2000));
  }
  const Simulator done = simulated(streams, {.nic = Nic::send_only});

  REQUIRE(done.servers()[kSending].waiting_s == 15 * 14 / 2 * 2000 / 1e9);
  REQUIRE(done.servers()[kSending].longest_queue == 14);
  REQUIRE(done.servers()[kSending].longest_wait_ns == 14 * 2000);
  REQUIRE(done.jobs()[0].finish_ns == 15 * 2000 + 100);
}

TEST_CASE("simulation: an incast waits at the receiver as a burst") {
  // One message from each of three nodes to node 0, all there at the same time.
  const Simulator done =
      simulated({stream(4, 0, 1000), stream(8, 1, 1000), stream(12, 2, 1000)}, {});

  REQUIRE(done.servers()[kReceiving].waiting_s == Approx((1 + 2) * 1000e-9));
  REQUIRE(done.servers()[kSending + 1].waiting_s == 0);
  REQUIRE(done.jobs()[0].finish_ns == 1000 + 100 + 3 * 1000);
}

TEST_CASE("simulation: store and forward takes two services, cut through one") {
  const std::vector<MessageStream> streams{stream(0, 4, 5000)};
  REQUIRE(simulated(streams).jobs()[0].finish_ns == 5000 + 100 + 5000);
  REQUIRE(simulated(streams, {.forwarding = Forwarding::cut_through}).jobs()[0].finish_ns ==
          5000 + 100);
  REQUIRE(simulated(streams, {.nic = Nic::send_only}).jobs()[0].finish_ns == 5000 + 100);
}

TEST_CASE("simulation: each way inside a node has its own server and time") {
  const std::int64_t large = (1 << 20) + 1;
  REQUIRE(simulated({stream(0, 1, 8000)}).jobs()[0].finish_ns == 1000);     // cache
  REQUIRE(simulated({stream(0, 2, 8000)}).jobs()[0].finish_ns == 2200);     // remote memory
  REQUIRE(simulated({stream(0, 1, large)}).jobs()[0].finish_ns == 262144);  // memory
  const Simulator done = simulated({stream(0, 1, 8000), stream(2, 0, 8000), stream(4, 5, large)});
  REQUIRE(done.servers()[kCache].num_messages == 1);
  REQUIRE(done.servers()[kMemory + 1].num_messages == 1);
  REQUIRE(done.servers()[kMemory + 2].num_messages == 1);
}

TEST_CASE("simulation: messages do not wait for a cache") {
  const Simulator done = simulated({stream(0, 1, 8000), stream(1, 0, 8000), stream(0, 1, 8000)});
  REQUIRE(done.jobs()[0].waiting_s == 0);
  REQUIRE(done.jobs()[0].finish_ns == 1000);
}

TEST_CASE("simulation: a shared interface serves both directions, separate ones do not wait") {
  // Node 0 sends at 100 what takes 1000; from node 1 it gets a message at 600.
  const std::vector<MessageStream> streams{stream(0, 4, 1000, 1, 1e9, 100), stream(8, 1, 500)};
  REQUIRE(simulated(streams).jobs()[0].waiting_s == 0);
  const Simulator done = simulated(streams, {.nic = Nic::shared});
  REQUIRE(done.servers()[kSending].waiting_s == Approx(500e-9));
  REQUIRE(done.servers()[kSending].num_messages == 2);
}

TEST_CASE("simulation: what arrives at a shared interface goes before what is sent later") {
  // From node 2 there at 600, served until 1100; node 0 itself sends at 700 and has to wait.
  const Simulator done =
      simulated({stream(0, 4, 1000, 1, 1e9, 700), stream(8, 1, 500)}, {.nic = Nic::shared});
  REQUIRE(done.servers()[kSending].waiting_s == Approx(400e-9));
}

TEST_CASE("simulation: in a closed loop a stream waits for its own message, not in a queue") {
  // Each message needs 1000 + 100 + 1000; asked for every 10 ns.
  const std::vector<MessageStream> streams{stream(0, 4, 1000, 5, 10)};
  for (const Nic nic : {Nic::separate, Nic::shared}) {
    const Simulator done = simulated(streams, {.nic = nic, .is_closed_loop = true});
    REQUIRE(done.jobs()[0].finish_ns == 5 * 2100);
    REQUIRE(done.jobs()[0].waiting_s == 0);
  }
  REQUIRE(simulated(streams).jobs()[0].finish_ns == 5 * 1000 + 1100);
}

TEST_CASE("simulation: a random phase lies within the first period, by the seed") {
  const std::vector<MessageStream> streams{stream(0, 4, 0, 1, 1e6)};
  const auto finish_ns = [&streams](std::uint64_t seed) {
    return simulated(streams, {.arrivals = Arrivals::random_phase, .seed = seed})
        .jobs()[0]
        .finish_ns;
  };
  REQUIRE(finish_ns(1) == finish_ns(1));
  REQUIRE(finish_ns(1) != finish_ns(2));
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    REQUIRE(finish_ns(seed) >= 100);
    REQUIRE(finish_ns(seed) <= 1'000'100);
  }
}

TEST_CASE("simulation: offered load counts what is asked for, also above capacity") {
  const Simulator done = simulated({stream(0, 4, 1000, 10, 500)});
  REQUIRE(done.servers()[kSending].offered_ratio == Approx(2.0));
  REQUIRE(done.servers()[kReceiving + 1].offered_ratio == Approx(2.0));
  REQUIRE(done.servers()[kReceiving].offered_ratio == 0);
}

TEST_CASE("simulation: what cannot be is refused") {
  REQUIRE_THROWS_AS(simulated({stream(0, 16, 1)}), fairlead::InputError);
  REQUIRE_THROWS_AS(simulated({stream(0, 1, -1)}), fairlead::InputError);
  REQUIRE_THROWS_AS(simulated({stream(0, 1, 1, 0)}), fairlead::InputError);
  REQUIRE_THROWS_AS(simulated({stream(0, 1, 1, 1, 0)}), fairlead::InputError);
  REQUIRE_THROWS_AS(simulated({stream(0, 1, 1, 1'000'000'000'000, 1e9)}), fairlead::InputError);
  Machine without_rate = kMachine;
  without_rate.nic_Bps = 0;
  REQUIRE_THROWS_AS(simulated({}, {}, without_rate), fairlead::InputError);
}
