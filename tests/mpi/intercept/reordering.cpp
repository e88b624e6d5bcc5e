// SPDX-License-Identifier: Apache-2.0
// The plan's text, and the arguments of graphs and grids, without any MPI at work.
#include <algorithm>
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
    "fairlead-network 1\nnum_hosts 2\nhost n1.site.org 10.0.0.1\nhost n2 login\n"
    "latency_s 0 0.25\nlatency_s 0.5 0\nbandwidth_Bps inf 100\nbandwidth_Bps 50 inf\nend\n";
const std::string kReorder = "fairlead-reorder 1\nmessage_bytes 200\nend\n";

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
  return find_host(plan_of(kNetwork), own_names);
}

int mark_unweighted = 0;
int mark_empty = 0;
const WeightMarks kMarks{&mark_unweighted, &mark_empty};

}  // namespace

TEST_CASE("plan: a message costs latency and size over bandwidth") {
  const ReorderPlan plan = plan_of(kNetwork);

  CHECK(plan.message_s == std::vector<double>{0.0, 2.25, 4.5, 0.0});
}

TEST_CASE("plan: each wrong line is named") {
  CHECK(problem_of("") == "N:1: the file is cut off");
  CHECK(problem_of(with(kNetwork, "network 1", "network 2")) ==
        "N:1: this library reads version 1 of the format only");
  CHECK(problem_of(with(kNetwork, "hosts 2", "hosts 2.5")) ==
        "N:2: num_hosts: expected a whole number from 1 to 65536");
  CHECK(problem_of(with(kNetwork, "hosts 2", "hosts 3")) ==
        "N:5: expected a line that begins with 'host'");
  CHECK(problem_of(with(kNetwork, "host n2 login", "host")) == "N:4: host: a name is missing");
  CHECK(problem_of(with(kNetwork, "0.5 0", "0.5")) == "N:6: latency_s: expected 2 values, got 1");
  CHECK(problem_of(with(kNetwork, "0.5 0", "nan 0")) ==
        "N:6: latency_s: a value must be finite and >= 0, got nan");
  CHECK(problem_of(with(kNetwork, "50", "0")) == "N:8: bandwidth_Bps: a value must be > 0, got 0");
  CHECK(problem_of(with(kNetwork, "50", "5O")) == "N:8: '5O' is not a number");
  CHECK(problem_of(with(kNetwork, "end\n", "")) == "N:9: the file is cut off");
  CHECK(problem_of(kNetwork, with(kReorder, "200", "inf")) ==
        "R:2: message_bytes: expected a number > 0");
  CHECK(problem_of(kNetwork) == "none");
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
  const ReorderPlan twins = plan_of(with(kNetwork, "host n2 login", "host n1.else.org"));

  CHECK(find_host(twins, std::vector<std::string>{"n1"}) == kUnknownHost);
  CHECK(find_host(twins, std::vector<std::string>{"n1.else.org"}) == 1);
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

TEST_CASE("adjacent: weights on one side only, and ranks of nobody, are not packed") {
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
