// SPDX-License-Identifier: Apache-2.0
// Scaling, packing and repair, which whole placements show only from afar, and Scotch's errors.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fairlead/error.hpp"
#include "fairlead/mapping/placement_cost.hpp"
#include "fairlead/mapping/scotch_mapping.hpp"
#include "mapping/scotch/integer_scale.hpp"
#include "mapping/scotch/packing.hpp"
#include "mapping/scotch/repair.hpp"
#include "mapping/scotch/scotch_library.hpp"

namespace {

using fairlead::HostMatrix;
using fairlead::RankGraph;
using fairlead::RankMatrix;
using Indices = std::vector<std::int64_t>;

/// Owns what a RankMatrix looks at.
struct Traffic {
  Indices row_start{0}, column;
  std::vector<double> value;

  explicit Traffic(const std::vector<std::vector<double>>& dense) {
    for (const auto& row : dense) {
      for (std::size_t dst = 0; dst < row.size(); ++dst) {
        column.push_back(static_cast<std::int64_t>(dst));
        value.push_back(row[dst]);
      }
      row_start.push_back(static_cast<std::int64_t>(column.size()));
    }
  }
  [[nodiscard]] RankMatrix view() const {
    return {.row_start = row_start, .column = column, .value = value};
  }
};

Traffic ring(std::size_t num_ranks, double bytes) {
  std::vector<std::vector<double>> dense(num_ranks, std::vector<double>(num_ranks, 0.0));
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    dense[rank][(rank + 1) % num_ranks] = bytes;
  }
  return Traffic(dense);
}

Traffic random_traffic(std::size_t num_ranks, std::mt19937& random) {
  std::lognormal_distribution<double> bytes(20.0, 5.0);
  std::vector<std::vector<double>> dense(num_ranks, std::vector<double>(num_ranks, 0.0));
  for (auto& row : dense) {
    for (double& value : row) value = bytes(random);
  }
  return Traffic(dense);
}

Indices ranks_per_host(std::span<const std::int64_t> host_of_rank, std::size_t num_hosts) {
  Indices number(num_hosts, 0);
  for (const std::int64_t host : host_of_rank) ++number[static_cast<std::size_t>(host)];
  return number;
}

}  // namespace

TEST_CASE("rank graph: both directions of a pair are one neighbour, self-traffic is none") {
  const Traffic traffic({{7, 1, 0}, {2, 0, 0}, {0, 4, 0}});

  const RankGraph graph(traffic.view());

  REQUIRE(graph.num_arcs() == 4);
  REQUIRE(graph.neighbours(0).size() == 1);
  CHECK(graph.neighbours(0)[0].sent == 1);
  CHECK(graph.neighbours(0)[0].received == 2);
  CHECK(graph.neighbours(1)[1].rank == 2);
  CHECK(graph.neighbours(1)[1].received == 4);
}

TEST_CASE("scaling: sums of weight times distance stay within 32 bits, whatever the traffic") {
  std::mt19937 random(1);
  for (const std::size_t num_ranks : {2U, 17U, 64U, 300U}) {
    const RankGraph graph(random_traffic(num_ranks, random).view());
    const std::vector<double> costs{0, 1e-9, 1e-3, 1e-3, 0, 1e-9, 1e-3, 5e-4, 0};

    const auto problem =
        fairlead::scale_to_integers(graph, {.num_hosts = 3, .values = costs}, 1000.0);

    const auto longest = static_cast<double>(std::ranges::max(problem.distances));
    double sum = 0.0;
    for (const std::int32_t weight : problem.weights) {
      CHECK(weight >= 1);
      sum += weight * longest;
    }
    CHECK(sum <= fairlead::kLargestSum);
    CHECK(sum >= fairlead::kLargestSum / 4);  // nor is the room thrown away
    CHECK(longest <= 1000.0);
  }
}

TEST_CASE("scaling: distances are the mean of both directions beyond the hosts' own cost") {
  const RankGraph graph(ring(2, 1.0).view());
  const std::vector<double> costs{2, 3, 7, 5, 2, 12, 7, 12, 2};  // own 2; pairs 4, 7, 12

  const auto problem = fairlead::scale_to_integers(graph, {.num_hosts = 3, .values = costs}, 100.0);

  CHECK(problem.distances == std::vector<std::int32_t>{0, 20, 50, 20, 0, 100, 50, 100, 0});
}

TEST_CASE("packing: the fewest hosts that are nearest to one another") {
  // Hosts 1 and 3 are near; 0 and 2 are far from all.
  const std::vector<double> costs{0, 9, 9, 9, 9, 0, 9, 1, 9, 9, 0, 9, 9, 1, 9, 0};
  const Indices slots{4, 4, 4, 4};

  const Indices packed = fairlead::packed_slots({.num_hosts = 4, .values = costs}, slots, 6);

  CHECK(packed == Indices{0, 4, 0, 2});
}

TEST_CASE("repair: the cheapest rank of an over-full host goes where it costs least") {
  // Ranks 0 to 2 are on host 0, which holds two. Rank 2 hardly talks to the others, and host 2 is
  // nearer than host 1.
  const Traffic traffic({{0, 9, 1}, {9, 0, 1}, {1, 1, 0}});
  const std::vector<double> costs{0, 5, 2, 5, 0, 5, 2, 5, 0};
  const Indices slots{2, 1, 1};
  Indices host_of_rank{0, 0, 0};

  fairlead::repair_capacity(RankGraph(traffic.view()), {.num_hosts = 3, .values = costs}, slots,
                            host_of_rank);

  CHECK(host_of_rank == Indices{0, 0, 2});
}

TEST_CASE("repair: a placement that fits is left alone") {
  const std::vector<double> costs{0, 5, 5, 0};
  const Indices slots{1, 1};
  Indices host_of_rank{1, 0};

  fairlead::repair_capacity(RankGraph(ring(2, 1.0).view()), {.num_hosts = 2, .values = costs},
                            slots, host_of_rank);

  CHECK(host_of_rank == Indices{1, 0});
}

TEST_CASE("scotch: every placement keeps to uneven slots, full or not") {
  std::mt19937 random(7);
  const Indices slots{1, 7, 2, 5, 3};
  std::vector<double> costs(25);
  std::uniform_real_distribution<double> cost(1e-9, 1e-8);
  for (double& value : costs) value = cost(random);
  for (const std::size_t num_ranks : {1U, 2U, 5U, 11U, 17U, 18U}) {
    const Traffic traffic = random_traffic(num_ranks, random);

    const auto placements = fairlead::scotch_placements(
        traffic.view(), {.num_hosts = 5, .values = costs}, slots, {.seed = 3, .num_tries = 4});

    for (const auto& host_of_rank : placements) {
      REQUIRE(host_of_rank.size() == num_ranks);
      const Indices number = ranks_per_host(host_of_rank, slots.size());
      for (std::size_t host = 0; host < slots.size(); ++host) CHECK(number[host] <= slots[host]);
    }
  }
}

TEST_CASE("scotch: an error is an exception with Scotch's own words, and nothing on stderr") {
  SCOTCH_Strat strategy;
  SCOTCH_stratInit(&strategy);
  std::string message;

  try {
    fairlead::scotch::check(SCOTCH_stratGraphMap(&strategy, "nonsense{"), "read a strategy");
  } catch (const fairlead::Error& error) {
    message = error.what();
  }
  SCOTCH_stratExit(&strategy);

  CHECK(message.starts_with("Scotch failed to read a strategy: "));
  CHECK(message.find("SCOTCH_stratGraphMap") != std::string::npos);
}

TEST_CASE("cost: an unmeasured pair counts only where traffic crosses it") {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> latency_s{0, 1, unknown, 0}, bandwidth_Bps{1e99, 2, unknown, 1e99};
  const HostMatrix latency{.num_hosts = 2, .values = latency_s};
  const HostMatrix bandwidth{.num_hosts = 2, .values = bandwidth_Bps};
  const Traffic one_way({{0, 8}, {0, 0}});

  const auto forth =
      fairlead::evaluate(one_way.view(), one_way.view(),
                         {.latency_s = latency, .bandwidth_Bps = bandwidth}, Indices{0, 1});
  const auto back =
      fairlead::evaluate(one_way.view(), one_way.view(),
                         {.latency_s = latency, .bandwidth_Bps = bandwidth}, Indices{1, 0});

  CHECK(forth.comm_time_s == 8 / 2.0);
  CHECK(forth.serial_time_s == 8 * 1 + 8 / 2.0);
  CHECK(back.serial_time_s != back.serial_time_s);
}
