// SPDX-License-Identifier: Apache-2.0
// The simulation behind predicted times: fair rates against progressive filling, programs against
// closed forms.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "collective_networks.hpp"
#include "collectives/fair_sharing.hpp"
#include "collectives/program.hpp"
#include "fairlead/collectives/planning.hpp"

namespace {

using namespace fairlead::collectives;

constexpr double kRate_Bps = 1e8;
constexpr double kLatency_s = 1e-4;
constexpr double kExact = 0.0;

double simulated_s(const Program& program, const TestNetwork& network) {
  const auto view = network.view();
  const Links links(view);
  return simulate_s(program, links, kExact);
}

double simulated_s(const Schedule& schedule, const TestNetwork& network) {
  return simulated_s(program_of(schedule), network);
}

std::vector<std::int32_t> in_order(std::int32_t num_hosts) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(num_hosts));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Schedule ordered(Operation operation, Form form, std::int32_t num_hosts, std::uint64_t bytes) {
  Schedule schedule;
  schedule.operation = operation;
  schedule.form = form;
  schedule.num_hosts = num_hosts;
  schedule.root = has_root(operation) ? 0 : kNoHost;
  schedule.message_bytes = bytes;
  schedule.order = in_order(num_hosts);
  schedule.window = 1;
  schedule.num_parts = 1;
  return schedule;
}

// Equal segments along a chain 0 -> 1 -> ... .
Schedule chain(Operation operation, std::int32_t num_hosts, int num_segments, std::uint64_t bytes) {
  Schedule schedule = ordered(operation, Form::forest, num_hosts, bytes);
  schedule.order.clear();
  ParentOfHost parents = in_order(num_hosts);
  for (std::int32_t& parent : parents) --parent;
  schedule.trees = {parents};
  for (int segment = 0; segment < num_segments; ++segment) {
    schedule.segments.push_back({0, 1.0 / num_segments});
  }
  return schedule;
}

struct Pair {
  std::size_t src, dst;
};

// Progressive filling, flows of one pair sharing what it carries (Bertsekas, Gallager 1992,
// section 6.5.2): all rates grow together, each by its weight; whatever is full stops the flows
// through it.
std::vector<double> filled_Bps(const Links& links, const std::vector<Pair>& pairs) {
  std::vector<double> rates(pairs.size(), 0.0);
  std::vector<char> is_stopped(pairs.size(), 0);
  const std::size_t hosts = links.num_hosts();
  const std::size_t num_groups = links.num_groups();
  const auto weight = [&](std::size_t flow) {
    return kLatency_s / links.latency_s(pairs[flow].src, pairs[flow].dst);
  };
  const auto uses = [&](std::size_t flow, std::size_t resource) {
    const Pair& pair = pairs[flow];
    if (resource < hosts) return pair.src == resource;
    if (resource < 2 * hosts) return pair.dst == resource - hosts;
    if (resource >= 2 * hosts + num_groups) {
      return pair.src * hosts + pair.dst == resource - 2 * hosts - num_groups;
    }
    const auto groups = links.groups(pair.src, pair.dst);
    return std::find(groups.begin(), groups.end(),
                     static_cast<std::int32_t>(resource - 2 * hosts)) != groups.end();
  };
  const auto capacity = [&](std::size_t resource) {
    if (resource < hosts) return links.out_Bps(resource);
    if (resource < 2 * hosts) return links.in_Bps(resource - hosts);
    if (resource < 2 * hosts + num_groups) return links.group_Bps(resource - 2 * hosts);
    const std::size_t pair = resource - 2 * hosts - num_groups;
    return links.bandwidth_Bps(pair / hosts, pair % hosts);
  };
  while (std::count(is_stopped.begin(), is_stopped.end(), 0) > 0) {
    double step = std::numeric_limits<double>::infinity();
    std::vector<double> left(2 * hosts + num_groups + hosts * hosts);
    for (std::size_t resource = 0; resource < left.size(); ++resource) {
      left[resource] = capacity(resource);
      double num_growing = 0.0;
      for (std::size_t flow = 0; flow < pairs.size(); ++flow) {
        if (!uses(flow, resource)) continue;
        left[resource] -= rates[flow];
        if (is_stopped[flow] == 0) num_growing += weight(flow);
      }
      if (num_growing > 0.0) step = std::min(step, left[resource] / num_growing);
    }
    for (std::size_t flow = 0; flow < pairs.size(); ++flow) {
      if (is_stopped[flow] == 0) rates[flow] += step * weight(flow);
    }
    for (std::size_t flow = 0; flow < pairs.size(); ++flow) {
      if (is_stopped[flow] != 0) continue;
      bool is_full = false;
      for (std::size_t resource = 0; resource < left.size(); ++resource) {
        if (!uses(flow, resource)) continue;
        double used = 0.0;
        for (std::size_t other = 0; other < pairs.size(); ++other) {
          if (uses(other, resource)) used += rates[other];
        }
        is_full = is_full || used >= capacity(resource) * (1.0 - 1e-12);
      }
      if (is_full) is_stopped[flow] = 1;
    }
  }
  return rates;
}

}  // namespace

TEST_CASE("fair sharing: rates are those of progressive filling, as flows come and go") {
  std::mt19937 random(GENERATE(1U, 2U, 3U, 4U, 5U));
  TestNetwork network = drawn_network(8, kLatency_s, kRate_Bps, random());
  network.add_group(1.3 * kRate_Bps,
                    [](std::size_t src, std::size_t dst) { return src < 4 && dst >= 4; });
  const auto view = network.view();
  const Links links(view);
  constexpr std::size_t kNumFlows = 40;
  FairSharing sharing(links, kNumFlows, kExact);
  std::vector<Pair> pairs;
  for (std::size_t flow = 0; flow < kNumFlows; ++flow) {
    const std::size_t src = random() % 8;
    pairs.push_back({src, (src + 1 + random() % 7) % 8});
    sharing.add(static_cast<std::int32_t>(flow), pairs.back().src, pairs.back().dst);
    (void)sharing.update();
  }

  // Half of them leave again.
  std::vector<Pair> left;
  std::vector<std::int32_t> numbers;
  for (std::size_t flow = 0; flow < kNumFlows; ++flow) {
    if (flow % 2 == 0) {
      sharing.remove(static_cast<std::int32_t>(flow));
      (void)sharing.update();
    } else {
      left.push_back(pairs[flow]);
      numbers.push_back(static_cast<std::int32_t>(flow));
    }
  }

  const std::vector<double> expected = filled_Bps(links, left);
  for (std::size_t flow = 0; flow < left.size(); ++flow) {
    CHECK(sharing.rate_Bps(numbers[flow]) == Approx(expected[flow]).epsilon(1e-6));
  }
}

TEST_CASE("simulation: a message takes its latency and its bytes over the rate") {
  Program program;
  program.add(0, 1, 1e6);
  CHECK(simulated_s(program, even_network(2, kLatency_s, kRate_Bps)) == Approx(kLatency_s + 0.01));
}

TEST_CASE("simulation: two messages out of one NIC get half of it each, the rest is for one") {
  Program program;
  program.add(0, 1, 1e6);
  program.add(0, 2, 3e6);
  // 1 MB each at half the rate in 20 ms, then 2 MB alone in 20 ms.
  CHECK(simulated_s(program, even_network(3, kLatency_s, kRate_Bps)) == Approx(kLatency_s + 0.04));
}

TEST_CASE("simulation: messages of one pair share what it carries") {
  TestNetwork network = even_network(2, 0.0, kRate_Bps);
  network.nic_out_Bps = network.nic_in_Bps = {10.0 * kRate_Bps, 10.0 * kRate_Bps};
  Program program;
  program.add(0, 1, 1e6);
  program.add(0, 1, 1e6);
  CHECK(simulated_s(program, network) == Approx(0.02));
}

TEST_CASE("simulation: of two messages the one of three times the latency gets a third as much") {
  TestNetwork network = even_network(3, kLatency_s, kRate_Bps);
  network.latency(0, 2) = 3.0 * kLatency_s;
  Program program;
  program.add(0, 1, 3e6);
  program.add(0, 2, 1e6);
  // Alone for 0.2 ms, in which 20 kB go; then at three quarters and a quarter of the rate.
  CHECK(simulated_s(program, network) == Approx(kLatency_s + 0.04));
}

TEST_CASE("simulation: pairs of one group share what it carries") {
  TestNetwork network = even_network(4, 0.0, kRate_Bps);
  network.add_group(kRate_Bps, [](std::size_t src, std::size_t dst) { return src < 2 && dst > 1; });
  Program program;
  program.add(0, 2, 1e6);
  program.add(1, 3, 1e6);
  CHECK(simulated_s(program, network) == Approx(0.02));
}

TEST_CASE("simulation: pairs share each of their groups, however many these are") {
  TestNetwork network = even_network(4, 0.0, kRate_Bps);
  const auto crosses = [](std::size_t src, std::size_t dst) { return src < 2 && dst > 1; };
  for (int group = 0; group < 20; ++group) network.add_group(10.0 * kRate_Bps, crosses);
  network.add_group(kRate_Bps, crosses);
  Program program;
  program.add(0, 2, 1e6);
  program.add(1, 3, 1e6);
  CHECK(simulated_s(program, network) == Approx(0.02));
}

TEST_CASE("simulation: a host sends one after the other where it may not send more at once") {
  Program program;
  program.add(0, 1, 1e6);
  program.add(0, 2, 1e6);
  program.max_sends = 1;
  CHECK(simulated_s(program, even_network(3, kLatency_s, kRate_Bps)) ==
        Approx(2.0 * (kLatency_s + 0.01)));
}

TEST_CASE("simulation: a host that may not receive more at once takes messages in their order") {
  const auto message_s = kLatency_s + 0.01;
  Program program;
  const std::int32_t first = program.add(1, 0, 1e6);
  program.add(2, 0, 1e6);
  program.max_receives = 1;
  const TestNetwork network = even_network(4, kLatency_s, kRate_Bps);
  CHECK(simulated_s(program, network) == Approx(2.0 * message_s));
  // Also where the first one is held up.
  program.add_dependency(program.add(3, 1, 1e6), first);
  CHECK(simulated_s(program, network) == Approx(3.0 * message_s));
}

TEST_CASE("simulation: a limit holds back sends of a bcast and receives of a reduce alike") {
  Schedule schedule =
      ordered(GENERATE(Operation::bcast, Operation::reduce), Form::forest, 4, 1'000'000);
  schedule.order.clear();
  schedule.trees = {{kNoHost, 0, 0, 0}};
  schedule.segments = {{0, 1.0}};
  const TestNetwork network = even_network(4, kLatency_s, kRate_Bps);
  CHECK(simulated_s(schedule, network) == Approx(kLatency_s + 3 * 0.01));
  schedule.max_sends = 1;
  CHECK(simulated_s(schedule, network) == Approx(3 * (kLatency_s + 0.01)));
}

TEST_CASE("simulation: a chain of S segments over H hosts takes S + H - 2 of them") {
  const auto operation = GENERATE(Operation::bcast, Operation::reduce);
  const Schedule schedule = chain(operation, 5, 10, 10'000'000);
  const double segment_s = kLatency_s + 0.01;
  CHECK(simulated_s(schedule, even_network(5, kLatency_s, kRate_Bps)) ==
        Approx((10 + 5 - 2) * segment_s));
}

TEST_CASE("simulation: an allreduce on a chain goes up and down, each way its own direction") {
  Schedule schedule = chain(Operation::allreduce, 5, 10, 10'000'000);
  schedule.root = kNoHost;
  // NICs carry a message each way at full rate.
  TestNetwork network = even_network(5, kLatency_s, kRate_Bps);
  network.nic_out_Bps.assign(5, 2.0 * kRate_Bps);
  network.nic_in_Bps = network.nic_out_Bps;
  const double segment_s = kLatency_s + 0.01;
  // The first segment is complete at the root after 4 steps; the others follow one by one.
  CHECK(simulated_s(schedule, network) == Approx((4 + 10 + 5 - 2) * segment_s));
}

TEST_CASE("simulation: a window of two halves the latencies of an edge") {
  Schedule schedule = chain(Operation::bcast, 2, 10, 10'000'000);
  schedule.window = 2;
  // Two at a time at half the rate each, and then one latency for the next two.
  CHECK(simulated_s(schedule, even_network(2, kLatency_s, kRate_Bps)) ==
        Approx(10 * 0.01 + 5 * kLatency_s));
}

TEST_CASE("simulation: a ring takes H - 1 steps, an allreduce twice as many of a share") {
  const double block_s = kLatency_s + 0.01;
  const TestNetwork network = even_network(6, kLatency_s, kRate_Bps);
  CHECK(simulated_s(ordered(Operation::allgather, Form::ring, 6, 1'000'000), network) ==
        Approx(5 * block_s));
  CHECK(simulated_s(ordered(Operation::reduce_scatter, Form::ring, 6, 1'000'000), network) ==
        Approx(5 * block_s));
  CHECK(simulated_s(ordered(Operation::allreduce, Form::ring, 6, 6'000'000), network) ==
        Approx(10 * block_s));
}

TEST_CASE("simulation: of a ring's two unequal parts, one travels while the other waits") {
  // Both set out at once and share the edge. The shorter one goes on first; its second message ends
  // when that of the longer one, which set out later, has had its latency.
  Schedule schedule = ordered(Operation::allgather, Form::ring, 3, 12'000);
  schedule.num_parts = 2;
  const double block_s = 1.2e-4;
  CHECK(simulated_s(schedule, even_network(3, kLatency_s, kRate_Bps)) ==
        Approx(2 * kLatency_s + block_s + block_s * 2 / 3));
}

TEST_CASE("simulation: recursive doubling takes log2 H steps, one more without a power of two") {
  const double step_s = kLatency_s + 0.01;
  CHECK(simulated_s(ordered(Operation::allreduce, Form::doubling, 8, 1'000'000),
                    even_network(8, kLatency_s, kRate_Bps)) == Approx(3 * step_s));
  // The ninth's part goes around one step late, and the result is sent to it in the same step.
  // Without bytes: else the ninth and the second host share the NIC of the first.
  CHECK(simulated_s(ordered(Operation::allreduce, Form::doubling, 9, 0),
                    even_network(9, kLatency_s, kRate_Bps)) == Approx(4 * kLatency_s));
}

TEST_CASE("simulation: dissemination takes a latency a round, and Bruck all blocks but one") {
  const TestNetwork network = even_network(6, kLatency_s, kRate_Bps);
  CHECK(simulated_s(ordered(Operation::barrier, Form::dissemination, 6, 0), network) ==
        Approx(3 * kLatency_s));
  CHECK(simulated_s(ordered(Operation::allgather, Form::dissemination, 6, 1'000'000), network) ==
        Approx(3 * kLatency_s + 5 * 0.01));
  CHECK(simulated_s(ordered(Operation::reduce_scatter, Form::dissemination, 6, 1'000'000),
                    network) == Approx(3 * kLatency_s + 5 * 0.01));
}

TEST_CASE("simulation: in two levels a block crosses, and then goes to all of the island") {
  Schedule schedule = ordered(Operation::allgather, Form::two_level, 4, 1'000'000);
  schedule.order.clear();
  schedule.levels = {{{0, 2}, {1, 3}}};
  const TestNetwork even = even_network(4, kLatency_s, kRate_Bps);
  // One block to the other island and one inside share the NIC; then what has come in goes inside.
  CHECK(simulated_s(schedule, even) == Approx(2 * kLatency_s + 0.03));
  // Two hosts share an uplink of half their rate.
  const TestNetwork racked = racked_network(4, 2, kLatency_s, kRate_Bps, kRate_Bps / 2);
  CHECK(simulated_s(schedule, racked) == Approx(2 * kLatency_s + 0.04 + 0.01));
  // Backwards: two blocks come in from inside, and then what is to cross does.
  schedule.operation = Operation::reduce_scatter;
  CHECK(simulated_s(schedule, racked) == Approx(2 * kLatency_s + 0.02 + 0.04));
  // One after the other, that which is to cross first.
  schedule.max_sends = 1;
  CHECK(simulated_s(schedule, racked) == Approx(2 * kLatency_s + 0.01 + 0.04));
}

TEST_CASE("simulation: the sums that an island of one host lets out go one after the other") {
  // Host 0 is the entry of all the others: their blocks go in turn, each after a latency.
  Schedule schedule = ordered(Operation::reduce_scatter, Form::two_level, 5, 1'000);
  schedule.order.clear();
  schedule.levels = {{{0}, {1, 2, 3, 4}}};
  const TestNetwork even = even_network(5, kLatency_s, kRate_Bps);
  CHECK(simulated_s(schedule, even) >= 4 * (kLatency_s + 1'000 / kRate_Bps) * (1 - 1e-9));
  schedule.window = 4;
  CHECK(simulated_s(schedule, even) < 3 * kLatency_s);
}

TEST_CASE("simulation: a linear scatter or gather takes all blocks through the root's NIC") {
  const auto operation = GENERATE(Operation::scatter, Operation::gather);
  CHECK(simulated_s(ordered(operation, Form::linear, 6, 1'000'000),
                    even_network(6, kLatency_s, kRate_Bps)) == Approx(kLatency_s + 5 * 0.01));
}

TEST_CASE("prediction: a linear allreduce takes all blocks but one through each NIC, twice") {
  const Schedule schedule = ordered(Operation::allreduce, Form::linear, 6, 6'000'000);
  const TestNetwork network = even_network(6, kLatency_s, kRate_Bps);
  CHECK(predicted_s(network.view(), schedule) == Approx(2 * (kLatency_s + 5 * 0.01)));
}

TEST_CASE("simulation: blocks that differ count each with its own size") {
  const std::vector<double> block_bytes{4e6, 1e6, 2e6};
  const TestNetwork network = even_network(3, kLatency_s, kRate_Bps);
  const auto view = network.view();
  const Schedule schedule = ordered(Operation::gather, Form::linear, 3, 2'333'333);
  CHECK(predicted_s(view, schedule, block_bytes) == Approx(kLatency_s + 0.03));
}

TEST_CASE("simulation: a tree with splitting sends a subtree's blocks in one message") {
  Schedule schedule = ordered(Operation::scatter, Form::split_tree, 4, 1'000'000);
  schedule.order.clear();
  schedule.trees = {{kNoHost, 0, 1, 1}};
  // Three blocks to host 1, then one to each of two others at half the rate.
  CHECK(simulated_s(schedule, even_network(4, kLatency_s, kRate_Bps)) ==
        Approx(2 * kLatency_s + 0.03 + 0.02));
}

TEST_CASE(
    "prediction: an alltoall too large to simulate takes what its busiest NIC or group does") {
  // 1560 messages. Each of 8 hosts in a rack sends 32 blocks through its uplink.
  const Schedule schedule = ordered(Operation::alltoall, Form::linear, 40, 100'000);
  const auto even = even_network(40, kLatency_s, kRate_Bps);
  CHECK(predicted_s(even.view(), schedule) == Approx(kLatency_s + 39 * 100'000 / kRate_Bps));
  const auto racked = racked_network(40, 5, kLatency_s, kRate_Bps, kRate_Bps);
  CHECK(predicted_s(racked.view(), schedule) == Approx(kLatency_s + 8 * 32 * 100'000 / kRate_Bps));
}
