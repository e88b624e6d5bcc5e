// SPDX-License-Identifier: Apache-2.0
// Whole placements by Scotch keep to the slots, and their cost counts what is crossed.
#include "fairlead/mapping/scotch_mapping.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "catch.hpp"
#include "fairlead/mapping/placement_cost.hpp"
#include "rank_traffic.hpp"

namespace {

using fairlead::HostMatrix;

Indices ranks_per_host(std::span<const std::int64_t> host_of_rank, std::size_t num_hosts) {
  Indices number(num_hosts, 0);
  for (const std::int64_t host : host_of_rank) ++number[static_cast<std::size_t>(host)];
  return number;
}

}  // namespace

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

TEST_CASE("scotch: as published there is one placement for each start, within the slots") {
  std::mt19937 random(11);
  const Indices slots{4, 4, 4, 4};
  std::vector<double> costs(16);
  std::uniform_real_distribution<double> cost(1e-9, 1e-8);
  for (double& value : costs) value = cost(random);
  for (const std::size_t num_ranks : {7U, 16U}) {
    const Traffic traffic = random_traffic(num_ranks, random);

    const auto placements =
        fairlead::scotch_placements(traffic.view(), {.num_hosts = 4, .values = costs}, slots,
                                    {.seed = 3, .num_tries = 1, .is_as_published = true});

    REQUIRE(placements.size() == 1);
    const Indices number = ranks_per_host(placements[0], slots.size());
    for (std::size_t host = 0; host < slots.size(); ++host) CHECK(number[host] <= slots[host]);
  }
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
