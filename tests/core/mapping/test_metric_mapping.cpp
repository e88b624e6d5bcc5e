// SPDX-License-Identifier: Apache-2.0
// One call of Scotch on tasks and a complete graph of cores.
#include "fairlead/mapping/metric_mapping.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "rank_traffic.hpp"

namespace {

double cost_of(const std::vector<std::vector<double>>& bytes, const std::vector<double>& weight,
               const Indices& core_of_task) {
  double cost = 0.0;
  for (std::size_t src = 0; src < bytes.size(); ++src) {
    for (std::size_t dst = 0; dst < bytes.size(); ++dst) {
      const auto a = static_cast<std::size_t>(core_of_task[src]);
      const auto b = static_cast<std::size_t>(core_of_task[dst]);
      cost += bytes[src][dst] * weight[a * bytes.size() + b];
    }
  }
  return cost;
}

}  // namespace

TEST_CASE("metric mapping: every core gets one task, also where weights of most pairs are 0") {
  std::mt19937 random(3);
  for (const std::size_t num_tasks : {1U, 2U, 3U, 7U, 16U, 33U}) {
    std::vector<double> weight(num_tasks * num_tasks, 0.0);
    for (std::size_t a = 0; a < num_tasks; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const double value = a % 5 == 0 ? 60.0 : 0.0;
        weight[a * num_tasks + b] = weight[b * num_tasks + a] = value;
      }
    }
    const Traffic traffic = random_traffic(num_tasks, random);

    Indices cores = fairlead::scotch_metric_mapping(traffic.view(),
                                                    {.num_hosts = num_tasks, .values = weight}, 1);

    std::ranges::sort(cores);
    Indices each(num_tasks);
    std::iota(each.begin(), each.end(), 0);
    CHECK(cores == each);
  }
}

TEST_CASE(
    "metric mapping: two pairs of tasks take the two pairs of near cores, as the best of all") {
  // Tasks 0 and 2, and 1 and 3, exchange much; cores 0 and 3, and 1 and 2, are near.
  const std::vector<std::vector<double>> bytes{
      {0, 1, 900, 1}, {1, 0, 1, 900}, {900, 1, 0, 1}, {1, 900, 1, 0}};
  const std::vector<double> weight{0, 6, 6, 1, 6, 0, 1, 6, 6, 1, 0, 6, 1, 6, 6, 0};
  Indices order{0, 1, 2, 3};
  double least = cost_of(bytes, weight, order);
  while (std::ranges::next_permutation(order).found) {
    least = std::min(least, cost_of(bytes, weight, order));
  }
  REQUIRE(least < cost_of(bytes, weight, {0, 1, 2, 3}));
  const Traffic traffic(bytes);

  for (const std::uint32_t seed : {0U, 1U, 2U}) {
    const Indices cores =
        fairlead::scotch_metric_mapping(traffic.view(), {.num_hosts = 4, .values = weight}, seed);

    CHECK(cost_of(bytes, weight, cores) == least);
  }
}

TEST_CASE("metric mapping: the same seed gives the same cores, another one may give others") {
  std::mt19937 random(5);
  const Traffic traffic = random_traffic(24, random);
  std::vector<double> weight(24 * 24, 1.0);
  const auto map = [&](std::uint32_t seed) {
    return fairlead::scotch_metric_mapping(traffic.view(), {.num_hosts = 24, .values = weight},
                                           seed);
  };

  CHECK(map(4) == map(4));
  CHECK((map(5) != map(4) || map(6) != map(4) || map(7) != map(4)));
}
