// SPDX-License-Identifier: Apache-2.0
// The plan, and the arguments of graphs and grids, without any MPI at work.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../core/catch.hpp"
#include "fairlead/error.hpp"
#include "reorder/graph_arguments.hpp"
#include "reorder/plan.hpp"

using namespace fairlead::intercept;

namespace fairlead {
bool operator==(const RoleEdge& a, const RoleEdge& b) {
  return a.src == b.src && a.dst == b.dst && a.weight == b.weight;
}
}  // namespace fairlead

namespace {

using Edges = std::vector<fairlead::RoleEdge>;

const std::string kNetwork =
    R"({"format":"fairlead-network","version":3,"hosts":[["n1.site.org","10.0.0.1"],["n2","login"]],)"
    R"("latency_s":[[0,0.25],[0.5,0]],"bandwidth_Bps":[[null,100],[50,null]],)"
    R"("nic_out_Bps":[80,null],"nic_in_Bps":[],)"
    R"("groups":[{"pairs":[[1,0]],"capacity_Bps":40}]})";
const std::string kReorder = R"({"format":"fairlead-reorder","version":2,"message_bytes":200})";

ReorderPlan plan_of(const std::string& network, const std::string& reorder = kReorder) {
  return parse_reorder_plan({"N", network}, {"R", reorder});
}

std::string problem_of(const std::string& network, const std::string& reorder = kReorder) {
  try {
    (void)plan_of(network, reorder);
  } catch (const fairlead::InputError& error) {
    return error.what();
  }
  return "none";
}

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  return text.replace(text.find(old), old.size(), replacement);
}

int host_of(const std::vector<std::string>& own_names) {
  return find_host(plan_of(kNetwork).network, own_names);
}

int mark_unweighted = 0;
int mark_empty = 0;
const WeightMarks kMarks{&mark_unweighted, &mark_empty};

}  // namespace

TEST_CASE("plan: a message costs latency and size over bandwidth") {
  const ReorderPlan plan = plan_of(kNetwork);

  CHECK(plan.message_s == std::vector<double>{0.0, 2.25, 4.5, 0.0});
}

TEST_CASE("plan: each wrong field is named") {
  CHECK(problem_of("") == "N: is no whole JSON document: wrong at byte 1");
  CHECK(problem_of(with(kNetwork, "0.25", "0.25x")) ==
        "N: is no whole JSON document: wrong at byte 114");
  CHECK(problem_of(kNetwork.substr(0, 120)) == "N: is no whole JSON document: wrong at byte 121");
  CHECK(problem_of(with(kNetwork, "0.25", "1e999")) ==
        "N: holds a number beyond all floating-point numbers");
  CHECK(problem_of("[]") == "N: expected an object, got a list");
  CHECK(problem_of(with(kNetwork, ":3,", ":1,")) == "N: version: expected 3, got 1");
  CHECK(problem_of(with(kNetwork, "-network", "-reorder")) ==
        "N: format: expected \"fairlead-network\", got \"fairlead-reorder\"");
  CHECK(problem_of(with(kNetwork, "\"latency_s\"", "\"latency\"")) ==
        "N: unknown field \"latency\"");
  CHECK(problem_of(with(with(kReorder, "reorder", "network"), ":2,", ":3,")) ==
        "N: unknown field \"message_bytes\"");
  CHECK(problem_of(with(kNetwork, R"("hosts":[["n1.site.org","10.0.0.1"],["n2","login"]],)", "")) ==
        "N: hosts: is missing");
  CHECK(problem_of(with(kNetwork, R"(["n2","login"])", "[]")) == "N: hosts[1]: a name is missing");
  CHECK(problem_of(with(kNetwork, R"("n2")", "2")) == "N: hosts[1][0]: expected text, got 2");
  CHECK(problem_of(with(kNetwork, R"(,["n2","login"])", "")) ==
        "N: latency_s: expected a list of length 1, got one of 2");
  CHECK(problem_of(with(kNetwork, "0.5,0", "0.5")) ==
        "N: latency_s[1]: expected a list of length 2, got one of 1");
  CHECK(problem_of(with(kNetwork, "0.5,0", "null,0")) ==
        "N: latency_s[1][0]: expected a number >= 0, got null");
  CHECK(problem_of(with(kNetwork, "50", "0")) ==
        "N: bandwidth_Bps[1][0]: expected a number > 0 or null, got 0");
  CHECK(problem_of(with(kNetwork, "50", "\"50\"")) ==
        "N: bandwidth_Bps[1][0]: expected a number > 0 or null, got \"50\"");
  CHECK(problem_of(with(kNetwork, "[80,null]", "[80]")) ==
        "N: nic_out_Bps: expected a list of length 2, got one of 1");
  CHECK(problem_of(with(kNetwork, "[[1,0]]", "[[2,0]]")) ==
        "N: groups[0]: pairs[0][0]: expected a whole number from 0 to 1, got 2");
  CHECK(problem_of(with(kNetwork, "[[1,0]]", "[[1,1]]")) ==
        "N: groups[0]: pairs[0]: expected two different hosts");
  CHECK(problem_of(with(kNetwork, ":40", ":0")) ==
        "N: groups[0]: capacity_Bps: expected a number > 0, got 0");
  CHECK(problem_of(kNetwork, with(kReorder, "200", "0")) ==
        "R: message_bytes: expected a number > 0, got 0");
  CHECK(problem_of(kNetwork) == "none");
}

TEST_CASE("plan: a selection of hosts keeps what lies between them") {
  const NetworkPlan network = plan_of(kNetwork).network;
  const std::vector<std::int32_t> swapped{1, 0};
  const std::vector<std::int32_t> second{1};

  const NetworkPlan turned = network.select(swapped);
  CHECK(turned.latency_s == std::vector<double>{0.0, 0.5, 0.25, 0.0});
  CHECK(turned.nic_out_Bps[1] == 80.0);
  CHECK(std::isnan(turned.nic_out_Bps[0]));
  CHECK(turned.groups.src_of_pair == std::vector<std::int64_t>{0});
  CHECK(turned.groups.dst_of_pair == std::vector<std::int64_t>{1});
  CHECK(network.select(second).groups.src_of_pair.empty());
}

TEST_CASE("plan: brackets without end are refused, whatever their number") {
  CHECK(problem_of(std::string(500'000, '[')) ==
        "N: is no whole JSON document: wrong at byte 500001");
}

TEST_CASE("plan: a host is found by its name, its first label, an address, in this order") {
  CHECK(host_of({"n2"}) == 1);
  CHECK(host_of({"login", "10.0.0.1"}) == 1);
  CHECK(host_of({"n1"}) == 0);
  CHECK(host_of({"n2.other.org"}) == 1);
  CHECK(host_of({"x", "10.9.9.9", "10.0.0.1"}) == 0);
  CHECK(host_of({"10"}) == kUnknownHost);
  CHECK(host_of({"x"}) == kUnknownHost);
  CHECK(host_of({}) == kUnknownHost);
}

TEST_CASE("plan: a name that fits two hosts fits none") {
  const ReorderPlan twins = plan_of(with(kNetwork, R"("n2","login")", R"("n1.else.org")"));

  CHECK(find_host(twins.network, std::vector<std::string>{"n1"}) == kUnknownHost);
  CHECK(find_host(twins.network, std::vector<std::string>{"n1.else.org"}) == 1);
}

TEST_CASE("graph: arguments come out of the package as they went in") {
  const Integers sources{2, 0};
  const Integers degrees{1, 2};
  const Integers destinations{0, 1, 2};
  const Integers weights{5, 6, 7};

  const auto packed = GraphArguments::pack(3, kMarks, 2, sources.data(), degrees.data(),
                                           destinations.data(), weights.data());

  REQUIRE(packed);
  const GraphArguments out(*packed, kMarks);
  CHECK(Integers(out.sources, out.sources + out.num_sources) == sources);
  CHECK(Integers(out.degrees, out.degrees + 2) == degrees);
  CHECK(Integers(out.destinations, out.destinations + 3) == destinations);
  CHECK(Integers(out.weights, out.weights + 3) == weights);
  CHECK(out.edges(kMarks) == Edges{{2, 0, 5}, {0, 1, 6}, {0, 2, 7}});
}

TEST_CASE("graph: absent weights stay absent, and count 1") {
  const int source = 1;
  const int degree = 1;
  const int destination = 0;
  const auto packed =
      GraphArguments::pack(2, kMarks, 1, &source, &degree, &destination, kMarks.unweighted);
  REQUIRE(packed);
  CHECK(GraphArguments(*packed, kMarks).weights == kMarks.unweighted);
  CHECK(GraphArguments(*packed, kMarks).edges(kMarks) == Edges{{1, 0, 1}});

  const auto none = GraphArguments::pack(2, kMarks, 0, nullptr, nullptr, nullptr, kMarks.empty);
  REQUIRE(none);
  CHECK(GraphArguments(*none, kMarks).weights == kMarks.empty);
  CHECK(is_weighted(*none));
  CHECK_FALSE(is_weighted(*packed));
}

TEST_CASE("graph: what an MPI refuses is not packed") {
  const int zero = 0;
  const int one = 1;
  const int minus = -1;
  const auto is_packed = [](int num_sources, const int* sources, const int* degrees,
                            const int* destinations, const int* weights) {
    return GraphArguments::pack(1, kMarks, num_sources, sources, degrees, destinations, weights)
        .has_value();
  };
  CHECK(is_packed(1, &zero, &one, &zero, &one));
  CHECK_FALSE(is_packed(-1, &zero, &one, &zero, &one));
  CHECK_FALSE(is_packed(1, &one, &one, &zero, &one));
  CHECK_FALSE(is_packed(1, nullptr, &one, &zero, &one));
  CHECK_FALSE(is_packed(1, &zero, &minus, &zero, &one));
  CHECK_FALSE(is_packed(1, &zero, &one, &minus, &one));
  CHECK_FALSE(is_packed(1, &zero, &one, &zero, &minus));
  CHECK_FALSE(is_packed(1, &zero, &one, &zero, kMarks.empty));
}

TEST_CASE("adjacent: arguments come out of the package as they went in") {
  const Integers sources{2, 0};
  const Integers source_weights{3, 4};
  const int destination = 1;
  const int destination_weight = 9;

  const auto packed = AdjacentArguments::pack(3, kMarks, 2, sources.data(), source_weights.data(),
                                              1, &destination, &destination_weight);

  REQUIRE(packed);
  const AdjacentArguments out(*packed, kMarks);
  CHECK(Integers(out.sources, out.sources + out.indegree) == sources);
  CHECK(Integers(out.source_weights, out.source_weights + 2) == source_weights);
  CHECK(Integers(out.destinations, out.destinations + out.outdegree) == Integers{1});
  CHECK(*out.destination_weights == 9);
  CHECK(out.edges(2, kMarks) == Edges{{2, 1, 9}});
}

TEST_CASE("adjacent: weights on one side only, and missing ranks, are not packed") {
  const int zero = 0;
  const int two = 2;
  const auto is_packed = [](int indegree, const int* sources, const int* source_weights,
                            int outdegree, const int* destinations, const int* weights) {
    return AdjacentArguments::pack(2, kMarks, indegree, sources, source_weights, outdegree,
                                   destinations, weights)
        .has_value();
  };
  CHECK(is_packed(1, &zero, kMarks.unweighted, 1, &zero, kMarks.unweighted));
  CHECK(is_packed(0, nullptr, kMarks.empty, 1, &zero, &two));
  CHECK_FALSE(is_packed(1, &zero, kMarks.unweighted, 1, &zero, &two));
  CHECK_FALSE(is_packed(1, &two, kMarks.unweighted, 0, nullptr, kMarks.unweighted));
  CHECK_FALSE(is_packed(0, nullptr, kMarks.unweighted, 1, &two, kMarks.unweighted));
  CHECK_FALSE(is_packed(-1, nullptr, kMarks.unweighted, 0, nullptr, kMarks.unweighted));
}

TEST_CASE("grid: neighbours along each dimension, the last one varying fastest") {
  const Integers dims{2, 3};

  const Edges open = grid_edges(dims, Integers{0, 0});
  const Edges ring = grid_edges(dims, Integers{0, 1});

  CHECK(open == Edges{{0, 3, 1},
                      {3, 0, 1},
                      {1, 4, 1},
                      {4, 1, 1},
                      {2, 5, 1},
                      {5, 2, 1},
                      {0, 1, 1},
                      {1, 0, 1},
                      {1, 2, 1},
                      {2, 1, 1},
                      {3, 4, 1},
                      {4, 3, 1},
                      {4, 5, 1},
                      {5, 4, 1}});
  CHECK(ring.size() == open.size() + 4);
  CHECK(std::count(ring.begin(), ring.end(), fairlead::RoleEdge{2, 0, 1}) == 1);
  CHECK(std::count(ring.begin(), ring.end(), fairlead::RoleEdge{5, 3, 1}) == 1);
  CHECK(grid_edges(Integers{1}, Integers{1}).empty());
}

TEST_CASE("grid: one that does not fit, or has no dimension, is none") {
  const Integers dims{2, 3};
  const Integers periods{0, 0};
  const Integers huge{1 << 30, 1 << 30};
  CHECK(is_grid(6, 2, dims.data(), periods.data()));
  CHECK_FALSE(is_grid(5, 2, dims.data(), periods.data()));
  CHECK_FALSE(is_grid(6, 0, dims.data(), periods.data()));
  CHECK_FALSE(is_grid(6, 2, nullptr, periods.data()));
  CHECK_FALSE(is_grid(6, 2, huge.data(), periods.data()));
  CHECK_FALSE(is_grid(6, 1, Integers{0}.data(), periods.data()));
}
