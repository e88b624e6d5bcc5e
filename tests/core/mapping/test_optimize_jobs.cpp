// SPDX-License-Identifier: Apache-2.0
// What the load model predicts is what closed forms and the simulator say, and the search uses it.
#include "fairlead/mapping/optimize_jobs.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "fairlead/error.hpp"
#include "jobs_problem.hpp"

namespace sim = fairlead::sim;
using sim::Arrivals;
using sim::Cores;
using sim::JobsProblem;
using sim::kCoresPerNode;
using sim::Nic;
using sim::problem_of;
using sim::RankStream;
using sim::simulated;

namespace {

fairlead::OptimizeOptions search_options(const std::vector<Cores>& starts) {
  fairlead::OptimizeOptions options;
  options.num_proposals = 4000;
  options.starts = starts;
  return options;
}

double simulated_s(const JobsProblem& problem, const Cores& core_of_rank) {
  return simulated(problem, core_of_rank).waiting_s;
}

}  // namespace

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
