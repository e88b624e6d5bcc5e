// SPDX-License-Identifier: Apache-2.0
// Scaling, packing and repair, which whole placements show only from afar, and Scotch's errors.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fairlead/error.hpp"
#include "mapping/scotch/integer_scale.hpp"
#include "mapping/scotch/packing.hpp"
#include "mapping/scotch/repair.hpp"
#include "mapping/scotch/scotch_library.hpp"
#include "rank_traffic.hpp"

namespace {

using fairlead::RankGraph;

Traffic ring(std::size_t num_ranks, double bytes) {
  std::vector<std::vector<double>> dense(num_ranks, std::vector<double>(num_ranks, 0.0));
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    dense[rank][(rank + 1) % num_ranks] = bytes;
  }
  return Traffic(dense);
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
