// SPDX-License-Identifier: Apache-2.0
// Orders of hosts in rings and rounds, against brute force where that is feasible.
#include "collectives/orders/orders.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "collective_networks.hpp"
#include "collectives/trees/tree_links.hpp"
#include "fairlead/collectives/planning.hpp"

namespace {

using namespace fairlead::collectives;

constexpr double kRate_Bps = 1e8;
constexpr double kLatency_s = 1e-4;

double ring_s(const Links& links, const std::vector<std::int32_t>& order, double num_bytes) {
  double sum_s = 0.0;
  for (std::size_t position = 0; position < order.size(); ++position) {
    sum_s +=
        links.transfer_s(static_cast<std::size_t>(order[position]),
                         static_cast<std::size_t>(order[(position + 1) % order.size()]), num_bytes);
  }
  return sum_s;
}

}  // namespace

TEST_CASE("ring order: as short as the best of all permutations, or within 5 %") {
  const TestNetwork network = drawn_network(8, kLatency_s, kRate_Bps, GENERATE(1U, 2U, 3U, 4U));
  const auto view = network.view();
  const Links links(view);
  const double part_bytes = 1000.0;
  const auto order = ring_order(links, islands_of(links), part_bytes, 0.0);
  std::vector<std::int32_t> other(8);
  std::iota(other.begin(), other.end(), 0);
  double best_s = std::numeric_limits<double>::infinity();
  do {
    best_s = std::min(best_s, ring_s(links, other, part_bytes));
  } while (std::next_permutation(other.begin() + 1, other.end()));
  CHECK(ring_s(links, order, part_bytes) <= 1.05 * best_s);
}

TEST_CASE("ring order: each rack is entered once") {
  const TestNetwork network = racked_network(24, 4, kLatency_s, kRate_Bps, kRate_Bps);
  const auto view = network.view();
  const Links links(view);
  const auto order = ring_order(links, islands_of(links), 1e6, 23.0);
  std::size_t num_crossings = 0;
  for (std::size_t position = 0; position < order.size(); ++position) {
    num_crossings += order[position] % 4 != order[(position + 1) % order.size()] % 4 ? 1U : 0U;
  }
  CHECK(num_crossings == 4);
}

TEST_CASE("ring order: slow pairs are left out where fast ones make a ring") {
  TestNetwork network = even_network(16, kLatency_s, kRate_Bps / 10.0);
  for (std::size_t host = 0; host < 16; ++host) {
    network.bandwidth(host * 5 % 16, (host + 1) * 5 % 16) = kRate_Bps;
  }
  const auto view = network.view();
  const Links links(view);
  const auto order = ring_order(links, islands_of(links), 1e5, 15.0);
  for (std::size_t position = 0; position < order.size(); ++position) {
    CHECK(links.bandwidth_Bps(static_cast<std::size_t>(order[position]),
                              static_cast<std::size_t>(order[(position + 1) % 16])) == kRate_Bps);
  }
}

TEST_CASE("rounds order: doubling is simulated faster than in the order it began with") {
  const TestNetwork network = drawn_network(16, kLatency_s, kRate_Bps, 5);
  const auto view = network.view();
  const Links links(view);
  std::vector<std::int32_t> start(16);
  std::iota(start.begin(), start.end(), 0);
  Schedule schedule;
  schedule.operation = Operation::allreduce;
  schedule.form = Form::doubling;
  schedule.num_hosts = 16;
  schedule.message_bytes = 8;
  schedule.order = start;
  const double before_s = predicted_s(view, schedule);
  schedule.order = rounds_order(links, Rounds::doubling, 8.0, start);
  CHECK_NOTHROW(check(schedule));
  CHECK(predicted_s(view, schedule) < before_s);
}

TEST_CASE("rounds order: backwards it is that of the network with its directions exchanged") {
  TestNetwork network = drawn_network(13, kLatency_s, kRate_Bps, 6);
  TestNetwork transposed = network;
  for (std::size_t src = 0; src < 13; ++src) {
    for (std::size_t dst = 0; dst < 13; ++dst) {
      transposed.latency(dst, src) = network.latency(src, dst);
      transposed.bandwidth(dst, src) = network.bandwidth(src, dst);
    }
  }
  const auto view = network.view(), transposed_view = transposed.view();
  std::vector<std::int32_t> start(13);
  std::iota(start.begin(), start.end(), 0);
  CHECK(rounds_order(Links(view), Rounds::bruck_back, 1e5, start) ==
        rounds_order(Links(transposed_view), Rounds::bruck, 1e5, start));
}
