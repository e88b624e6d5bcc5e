// SPDX-License-Identifier: Apache-2.0
// What the load model believes a swap changes is what it changes, and what it predicts is what
// closed forms and the simulator say.
#include "fairlead/mapping/optimize_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "fairlead/error.hpp"
#include "mapping/jobs/load_state.hpp"

namespace sim = fairlead::sim;
using sim::Arrivals;
using sim::JobsProblem;
using sim::JobStreams;
using sim::LoadState;
using sim::Nic;
using sim::RankStream;

namespace {

using Cores = std::vector<std::int64_t>;

constexpr sim::Machine kMachine{.num_nodes = 4,
                                .sockets_per_node = 2,
                                .cores_per_socket = 3,
                                .nic_Bps = 1e9,
                                .memory_Bps = 4e9,
                                .remote_memory_ratio = 0.1,
                                .cache_Bps = 8e9,
                                .largest_cache_bytes = 1 << 20,
                                .switch_ns = 0};
constexpr std::int64_t kCoresPerNode = 6;

Cores all_cores() {
  Cores cores(static_cast<std::size_t>(kMachine.num_sockets() * kMachine.cores_per_socket));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

JobsProblem problem_of(std::vector<RankStream> streams, std::int64_t num_ranks,
                       const sim::Options& options = {}) {
  return {.machine = kMachine,
          .streams = std::move(streams),
          .num_ranks = num_ranks,
          .free_cores = all_cores(),
          .options = options};
}

fairlead::OptimizeOptions search_options(const std::vector<Cores>& starts) {
  fairlead::OptimizeOptions options;
  options.num_proposals = 4000;
  options.starts = starts;
  return options;
}

/// All messages as one job, one by one.
sim::JobOutcome simulated(const JobsProblem& problem, const Cores& core_of_rank) {
  std::vector<sim::MessageStream> streams;
  for (const RankStream& stream : problem.streams) {
    streams.push_back({.job = 0,
                       .src_core = core_of_rank[static_cast<std::size_t>(stream.src_rank)],
                       .dst_core = core_of_rank[static_cast<std::size_t>(stream.dst_rank)],
                       .message_bytes = stream.message_bytes,
                       .num_messages = stream.num_messages,
                       .period_ns = stream.period_ns,
                       .first_ns = 0.0});
  }
  sim::Simulator simulator(problem.machine, streams, 1, problem.options);
  while (simulator.advance(1'000'000)) {
  }
  return simulator.jobs().front();
}

double simulated_s(const JobsProblem& problem, const Cores& core_of_rank) {
  return simulated(problem, core_of_rank).waiting_s;
}

/// 14 ranks in all with messages of many sizes and periods, some servers overloaded, on the 21
/// cores that are free.
struct RandomCase {
  std::mt19937 random{11};
  JobsProblem problem = problem_of({}, 14);
  std::vector<std::int32_t> slots;
  std::vector<std::int32_t> socket_of_rank{0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 6, 7, 7};

  explicit RandomCase(const sim::Options& options) {
    problem.options = options;
    std::erase_if(problem.free_cores, [](std::int64_t core) { return core % 9 == 5; });
    slots.assign(8, 0);
    for (const std::int64_t core : problem.free_cores) {
      ++slots[static_cast<std::size_t>(kMachine.socket_of_core(core))];
    }
    for (std::int64_t src = 0; src < 14; ++src) {
      for (std::int64_t dst = 0; dst < 14; ++dst) {
        if (src == dst || random() % 3 == 0) continue;
        const std::int64_t count = 20 + 5 * static_cast<std::int64_t>(random() % 4);
        problem.streams.push_back(
            {.src_rank = src,
             .dst_rank = dst,
             .message_bytes = static_cast<std::int64_t>(random() % (1U << 21)),
             .num_messages = count,
             .period_ns = (src < 7 ? 4e8 : 1e8) / static_cast<double>(count)});
      }
    }
  }
};

void check_swaps(const sim::Options& options) {
  RandomCase its(options);
  const JobStreams streams(its.problem);
  const auto fresh_ns = [&](const LoadState& state) {
    return LoadState(its.problem, streams, state.occupancy()).waiting_ns();
  };
  LoadState state(its.problem, streams,
                  fairlead::optimizing::Occupancy(its.slots, its.socket_of_rank));
  const auto num_occupants = static_cast<unsigned>(its.problem.free_cores.size());
  int num_changes = 0;
  for (int step = 0; step < 300; ++step) {
    const double before_ns = state.waiting_ns();
    const bool is_of_sockets = step % 5 == 0;
    const auto one = static_cast<std::int32_t>(its.random() % (is_of_sockets ? 8 : 14));
    const auto other =
        static_cast<std::int32_t>(its.random() % (is_of_sockets ? 8 : num_occupants));
    if (is_of_sockets &&
        its.slots[static_cast<std::size_t>(one)] != its.slots[static_cast<std::size_t>(other)]) {
      continue;
    }
    const double change_ns =
        is_of_sockets ? state.swap_sockets(one, other) : state.swap(one, other);
    const double after_ns = fresh_ns(state);
    CHECK(std::abs(before_ns + change_ns - after_ns) <= 1e-9 * after_ns);
    CHECK(state.done_ns() == LoadState(its.problem, streams, state.occupancy()).done_ns());
    if (std::abs(change_ns) > 1e-6 * before_ns) ++num_changes;
    if (step % 3 != 0) continue;
    state.undo();
    CHECK(state.waiting_ns() == before_ns);
    CHECK(std::abs(fresh_ns(state) - before_ns) <= 1e-9 * before_ns);
  }
  CHECK(num_changes > 150);
}

}  // namespace

TEST_CASE("load model: a swap changes what it says, and nothing when taken back") {
  for (const Nic nic : {Nic::separate, Nic::shared, Nic::send_only}) {
    check_swaps({.nic = nic});
  }
  check_swaps({.arrivals = Arrivals::poisson});
}

TEST_CASE("load model: a burst of n waits n (n - 1) / 2 services, sent or received") {
  // 1 MB is 1 ms at an interface; three ranks of node 0 each send once to a node of their own.
  constexpr double kAlone_ns = 1e12;
  const std::vector<RankStream> out{{0, 3, 1'000'000, 1, kAlone_ns},
                                    {1, 4, 1'000'000, 1, kAlone_ns},
                                    {2, 5, 1'000'000, 1, kAlone_ns}};
  const Cores cores{0, 1, 2, kCoresPerNode, 2 * kCoresPerNode, 3 * kCoresPerNode};
  CHECK(sim::predicted_waiting_s(problem_of(out, 6), cores) == Approx(3e-3));

  std::vector<RankStream> in = out;
  for (RankStream& stream : in) std::swap(stream.src_rank, stream.dst_rank);
  CHECK(sim::predicted_waiting_s(problem_of(in, 6), cores) == Approx(3e-3));
}

TEST_CASE("load model: what comes from one node comes one after the other") {
  // Three messages wait at the sender's interface, and none at the receiver's.
  const std::vector<RankStream> streams{
      {0, 3, 1'000'000, 1, 1e12}, {1, 4, 1'000'000, 1, 1e12}, {2, 5, 1'000'000, 1, 1e12}};
  const Cores cores{0, 1, 2, kCoresPerNode, kCoresPerNode + 1, kCoresPerNode + 2};
  CHECK(sim::predicted_waiting_s(problem_of(streams, 6), cores) == Approx(3e-3));
}

TEST_CASE("load model: messages do not wait for a cache") {
  const std::vector<RankStream> streams{{0, 1, 1000, 50, 1000.0}, {1, 2, 1000, 50, 1000.0}};
  CHECK(sim::predicted_waiting_s(problem_of(streams, 3), Cores{0, 1, 2}) == 0.0);
}

TEST_CASE("load model: Poisson arrivals wait rho / (2 (1 - rho)) services") {
  // M/D/1 at 80 %: source: Pollaczek and Khinchine. 0.8 ms of service, 1000 messages.
  const JobsProblem problem =
      problem_of({{0, 1, 800'000, 1000, 1e6}}, 2, {.arrivals = Arrivals::poisson});
  const double waiting_s = sim::predicted_waiting_s(problem, Cores{0, kCoresPerNode});
  // The same at the receiver, which the model takes for one of its own.
  CHECK(waiting_s == Approx(2 * 1000 * 0.8e-3 * 0.8 / (2 * 0.2)));
}

TEST_CASE("load model: overload that ends is what the simulator finds, within 2 %") {
  // Node 0 is asked for 160 % of its interface for 1 s, then for 40 % for another 3 s.
  std::vector<RankStream> streams;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    streams.push_back({rank, rank + 3, 400'000, 1000, 1e6});
  }
  streams.push_back({3, 0, 400'000, 1000, 1e6});
  streams.push_back({0, 3, 400'000, 4000, 1e6});
  const JobsProblem problem = problem_of(streams, 6);
  const Cores cores{0, 1, 2, kCoresPerNode, 2 * kCoresPerNode, 3 * kCoresPerNode};
  const double found_s = simulated_s(problem, cores);
  CHECK(found_s > 100.0);
  CHECK(sim::predicted_waiting_s(problem, cores) == Approx(found_s).epsilon(0.02));
}

TEST_CASE("load model: the last server is done when the simulator's is, within 1 %") {
  // Both directions of one overload: a sender that is asked for 160 %, and a receiver.
  for (const bool is_incast : {false, true}) {
    std::vector<RankStream> streams;
    for (std::int64_t rank = 0; rank < 3; ++rank) {
      streams.push_back({rank, rank + 3, 533'000, 1000, 1e6});
      if (is_incast) std::swap(streams.back().src_rank, streams.back().dst_rank);
    }
    const JobsProblem problem = problem_of(streams, 6);
    const Cores cores{0, 1, 2, kCoresPerNode, 2 * kCoresPerNode, 3 * kCoresPerNode};
    std::vector<std::int32_t> sockets;
    for (const std::int64_t core : cores) {
      sockets.push_back(static_cast<std::int32_t>(kMachine.socket_of_core(core)));
    }
    const fairlead::optimizing::Occupancy occupancy(std::vector<std::int32_t>(8, 3), sockets);
    const auto finish_ns = static_cast<double>(simulated(problem, cores).finish_ns);
    CHECK(finish_ns > 1.5e9);
    CHECK(LoadState(problem, JobStreams(problem), occupancy).done_ns() ==
          Approx(finish_ns).epsilon(0.01));
  }
}

TEST_CASE("optimize jobs: two that exceed an interface together get one each") {
  // Ranks 0 and 1 ask for 80 % of an interface each, and begin on one node.
  JobsProblem problem = problem_of({{0, 2, 800'000, 100, 1e6}, {1, 3, 800'000, 100, 1e6}}, 4);
  problem.machine.largest_cache_bytes = 0;
  problem.machine.memory_Bps = 1e8;  // together on a node is worse still
  const std::vector<Cores> starts{{0, 1, kCoresPerNode, kCoresPerNode + 1}};
  const auto found = sim::optimize_jobs(problem, search_options(starts));
  REQUIRE(!found.empty());
  const Cores& cores = found.front().core_of_rank;
  CHECK(found.front().waiting_s == 0.0);
  CHECK(simulated_s(problem, cores) == 0.0);
  CHECK(simulated_s(problem, starts.front()) > 1.0);
}

TEST_CASE("optimize jobs: what waits less and is done later than the first start is not kept") {
  // Four long senders ask for 90 % of an interface each, six short ones for 60 % together. Two
  // nodes have room for one rank only. On the other two, the long ones can wait for each other, and
  // the short ones do not wait; or each has three short ones with it, and all wait and end sooner.
  std::vector<RankStream> streams;
  for (const auto& [src, dst] : {std::pair{0, 8}, {1, 9}, {8, 9}, {9, 8}}) {
    streams.push_back({src, dst, 900'000, 500, 1e6});
  }
  for (std::int64_t rank = 2; rank < 8; ++rank) streams.push_back({rank, 9, 10'000, 5000, 1e5});
  JobsProblem problem = problem_of(streams, 10, {.nic = Nic::send_only});
  problem.machine.largest_cache_bytes = 0;  // so that no rank gains by staying with a receiver
  problem.machine.memory_Bps = 5e7;
  problem.free_cores = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 18};
  const Cores apart{0, 6, 1, 2, 3, 7, 8, 9, 12, 18};
  const Cores together{0, 1, 6, 7, 8, 9, 10, 11, 12, 18};
  const sim::JobOutcome before = simulated(problem, apart);
  REQUIRE(simulated_s(problem, together) < before.waiting_s);
  REQUIRE(simulated(problem, together).finish_ns > before.finish_ns);
  for (const auto& found : sim::optimize_jobs(problem, search_options({apart}))) {
    CHECK(static_cast<double>(simulated(problem, found.core_of_rank).finish_ns) <=
          1.01 * static_cast<double>(before.finish_ns));
  }
}

TEST_CASE("optimize jobs: what cannot be is refused") {
  const JobsProblem good = problem_of({{0, 1, 1, 1, 1.0}}, 2);
  const std::vector<Cores> starts{{0, 1}};
  const auto refused = [&](auto change) {
    JobsProblem bad = good;
    change(bad);
    CHECK_THROWS_AS(sim::optimize_jobs(bad, search_options(starts)), fairlead::InputError);
  };
  refused([](JobsProblem& bad) { bad.streams[0].dst_rank = 2; });
  refused([](JobsProblem& bad) { bad.streams[0].dst_rank = 0; });
  refused([](JobsProblem& bad) { bad.streams[0].period_ns = 0.0; });
  refused([](JobsProblem& bad) { bad.streams[0].num_messages = 0; });
  refused([](JobsProblem& bad) { bad.free_cores = {0}; });
  refused([](JobsProblem& bad) { bad.free_cores = {0, 24}; });
  refused([](JobsProblem& bad) { bad.free_cores = {1, 2}; });
  CHECK_THROWS_AS(sim::optimize_jobs(good, search_options({})), fairlead::InputError);
  CHECK_THROWS_AS(sim::predicted_waiting_s(good, Cores{3, 3}), fairlead::InputError);
}
