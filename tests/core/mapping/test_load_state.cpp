// SPDX-License-Identifier: Apache-2.0
// What the load model believes a swap changes is what it changes.
#include "mapping/jobs/load_state.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "jobs_problem.hpp"

namespace sim = fairlead::sim;
using sim::Arrivals;
using sim::Cores;
using sim::JobsProblem;
using sim::JobStreams;
using sim::kCoresPerNode;
using sim::kMachine;
using sim::LoadState;
using sim::Nic;
using sim::problem_of;
using sim::RankStream;
using sim::simulated;

namespace {

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
