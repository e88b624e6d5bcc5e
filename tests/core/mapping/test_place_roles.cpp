// SPDX-License-Identifier: Apache-2.0
// Roles on processes: never worse than they were, and as good as brute force where that is
// feasible.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "catch.hpp"
#include "fairlead/mapping/place_roles.hpp"

namespace {

using fairlead::HostMatrix;
using fairlead::place_roles;
using fairlead::RoleEdge;
using fairlead::RoleOptions;
using fairlead::RolePlacement;
using Hosts = std::vector<std::int32_t>;
using Roles = std::vector<std::int32_t>;

struct Case {
  std::vector<RoleEdge> edges;
  std::size_t num_hosts = 0;
  std::vector<double> costs;
  Hosts host_of_process;

  [[nodiscard]] HostMatrix cost() const { return {num_hosts, costs}; }
  [[nodiscard]] RolePlacement placed(const RoleOptions& options = {}) const {
    return place_roles(edges, cost(), host_of_process, options);
  }

  // The sum as the header defines it, computed from the roles that each process has.
  [[nodiscard]] double cost_of(const Roles& role_of_process) const {
    Hosts host_of_role(role_of_process.size());
    for (std::size_t process = 0; process < role_of_process.size(); ++process) {
      host_of_role[static_cast<std::size_t>(role_of_process[process])] = host_of_process[process];
    }
    double sum = 0.0;
    for (const RoleEdge& edge : edges) {
      if (edge.src == edge.dst) continue;
      sum += edge.weight *
             cost()(static_cast<std::size_t>(host_of_role[static_cast<std::size_t>(edge.src)]),
                    static_cast<std::size_t>(host_of_role[static_cast<std::size_t>(edge.dst)]));
    }
    return sum;
  }

  [[nodiscard]] double least_cost() const {
    Roles roles(host_of_process.size());
    std::iota(roles.begin(), roles.end(), 0);
    double least = std::numeric_limits<double>::infinity();
    do {
      least = std::min(least, cost_of(roles));
    } while (std::next_permutation(roles.begin(), roles.end()));
    return least;
  }
};

// Enough for the few roles of a test.
constexpr RoleOptions kFew{.max_proposals = 200'000};

// Directed costs and weights at random; hosts of unequal size, processes dealt at random.
Case random_case(std::uint64_t seed, std::int32_t num_processes, std::int32_t num_hosts) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int32_t bound) {
    return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(bound));
  };
  Case made;
  made.num_hosts = static_cast<std::size_t>(num_hosts);
  for (std::int32_t src = 0; src < num_hosts; ++src) {
    for (std::int32_t dst = 0; dst < num_hosts; ++dst) {
      made.costs.push_back(src == dst ? 0.5 * below(2) : 1.0 + below(10));
    }
  }
  for (std::int32_t process = 0; process < num_processes; ++process) {
    made.host_of_process.push_back(below(num_hosts));
  }
  for (std::int32_t i = 0; i < 2 * num_processes; ++i) {
    made.edges.push_back({below(num_processes), below(num_processes), below(20)});
  }
  return made;
}

// Two racks of hosts: 1 inside of a rack, 10 between; 0 inside of a host.
std::vector<double> two_racks(std::size_t num_hosts) {
  std::vector<double> costs;
  for (std::size_t src = 0; src < num_hosts; ++src) {
    for (std::size_t dst = 0; dst < num_hosts; ++dst) {
      const bool is_near = (src < num_hosts / 2) == (dst < num_hosts / 2);
      costs.push_back(src == dst ? 0.0 : is_near ? 1.0 : 10.0);
    }
  }
  return costs;
}

bool is_permutation(Roles roles) {
  std::sort(roles.begin(), roles.end());
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("place_roles: as good as brute force on up to seven processes") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto num_processes = static_cast<std::int32_t>(2 + seed % 6);
    const Case made = random_case(seed, num_processes, 3);

    const RolePlacement found = made.placed({.max_proposals = 50'000, .min_gain_ratio = 0.0});

    INFO("seed " << seed);
    CHECK(found.cost == Approx(made.least_cost()));
    CHECK(found.cost == Approx(made.cost_of(found.role_of_process)));
  }
}

TEST_CASE("place_roles: a permutation that never costs more than the roles as they are") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case made = random_case(100 + seed, 60, 7);

    const RolePlacement found = made.placed(kFew);

    Roles identity(60);
    std::iota(identity.begin(), identity.end(), 0);
    INFO("seed " << seed);
    CHECK(is_permutation(found.role_of_process));
    CHECK(found.cost <= found.identity_cost);
    CHECK(found.identity_cost == Approx(made.cost_of(identity)));
    CHECK(found.cost == Approx(made.cost_of(found.role_of_process)));
  }
}

TEST_CASE("place_roles: the same arguments give the same roles") {
  const Case made = random_case(5, 100, 9);

  CHECK(made.placed(kFew).role_of_process == made.placed(kFew).role_of_process);
}

TEST_CASE("place_roles: the seed changes what is tried") {
  const Case made = random_case(5, 100, 9);
  const Roles roles = made.placed(kFew).role_of_process;

  bool differs = false;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    RoleOptions options = kFew;
    options.seed = seed;
    differs = differs || made.placed(options).role_of_process != roles;
  }
  CHECK(differs);
}

TEST_CASE("place_roles: a grid dealt round-robin comes together again") {
  // 8 x 8 roles in rows, 8 processes on each of 8 hosts. Blocks of 2 x 4 on two racks of 4 x 8 have
  // 8 edges between racks, and 32 + 8 - 8 = 32 between hosts of one rack, each both ways.
  Case made;
  made.num_hosts = 8;
  made.costs = two_racks(8);
  for (std::int32_t place = 0; place < 64; ++place) {
    made.host_of_process.push_back(place % 8);
    const auto connect = [&made, place](std::int32_t other) {
      made.edges.push_back({place, other, 1});
      made.edges.push_back({other, place, 1});
    };
    if (place % 8 != 7) connect(place + 1);
    if (place / 8 != 7) connect(place + 8);
  }

  const RolePlacement found = made.placed();

  CHECK(found.cost <= 2 * (8 * 10.0 + 32 * 1.0));
}

TEST_CASE("place_roles: weights decide, directions count") {
  // Role 0 may be near 1 or near 2; the heavier edge wins. Only the way from host 1 to 0 is slow.
  Case made;
  made.num_hosts = 2;
  made.host_of_process = {0, 1, 0, 1};
  made.costs = {0.0, 1.0, 1.0, 0.0};
  made.edges = {{0, 1, 9}, {0, 2, 1}, {2, 3, 9}};
  CHECK(made.placed().cost == 1.0);

  made.costs = {0.0, 1.0, 50.0, 0.0};
  const RolePlacement directed = made.placed();
  CHECK(directed.cost == 1.0);
  CHECK(made.cost_of(directed.role_of_process) == 1.0);
}

TEST_CASE("place_roles: small gains, no edges and no difference keep the roles") {
  Case made;
  made.num_hosts = 2;
  made.costs = {0.0, 1.0, 1.0, 0.0};
  made.host_of_process = {0, 1, 0, 1};
  CHECK(made.placed().is_identity());

  made.edges = {{0, 0, 5}, {1, 1, 5}};  // to themselves only
  CHECK(made.placed().is_identity());

  made.edges = {{0, 1, 1000}, {1, 2, 1000}, {2, 3, 1000}, {3, 0, 1004}};
  const RolePlacement kept = made.placed({.min_gain_ratio = 0.6});
  CHECK(kept.is_identity());
  CHECK(kept.cost == kept.identity_cost);
  CHECK_FALSE(made.placed().is_identity());
}

TEST_CASE("place_roles: processes whose host keeps their role keep it, too") {
  // Roles 0 and 1 are to meet. 4, 5 and 6 belong together and fit host 2 alone, where they are.
  Case made;
  made.num_hosts = 3;
  made.costs = {0, 1, 9, 1, 0, 9, 9, 9, 0};
  made.host_of_process = {0, 1, 0, 1, 2, 2, 2};
  made.edges = {{0, 1, 5}, {4, 5, 5}, {5, 6, 5}};

  const Roles roles = made.placed().role_of_process;

  CHECK_FALSE(made.placed().is_identity());
  CHECK(Roles(roles.begin() + 4, roles.end()) == Roles{4, 5, 6});
}

TEST_CASE("place_roles: hosts without a process change nothing") {
  // The same processes on hosts 1, 4 and 5 of six, the others nearer to all than these.
  const Case made = random_case(7, 24, 3);
  const std::vector<std::size_t> number{1, 4, 5};
  Case among;
  among.num_hosts = 6;
  among.costs.assign(36, 0.001);
  for (std::size_t src = 0; src < 3; ++src) {
    for (std::size_t dst = 0; dst < 3; ++dst) {
      among.costs[number[src] * 6 + number[dst]] = made.cost()(src, dst);
    }
  }
  for (const std::int32_t host : made.host_of_process) {
    among.host_of_process.push_back(
        static_cast<std::int32_t>(number[static_cast<std::size_t>(host)]));
  }
  among.edges = made.edges;

  CHECK(among.placed(kFew).role_of_process == made.placed(kFew).role_of_process);
}

TEST_CASE("place_roles: more proposals find a better placement") {
  const Case made = random_case(5, 100, 9);

  CHECK(made.placed(kFew).cost < made.placed({.max_proposals = 1'000}).cost);
}

TEST_CASE("place_roles: roles stay where the memory granted is too small for their table") {
  const Case made = random_case(7, 24, 3);

  CHECK(made.placed({.max_entries = 24 * 3 - 1}).is_identity());
  CHECK_FALSE(made.placed({.max_entries = 24 * 3}).is_identity());
}
