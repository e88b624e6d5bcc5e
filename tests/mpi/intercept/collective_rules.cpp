// SPDX-License-Identifier: Apache-2.0
// The rules by which collectives follow schedules, without any MPI at work.
#include <optional>
#include <string>

#include "../../core/catch.hpp"
#include "collectives/rules.hpp"
#include "fairlead/error.hpp"

using namespace fairlead::intercept;
using fairlead::collectives::Operation;

namespace {

const std::string kNetwork =
    R"({"format":"fairlead-network","version":3,"hosts":[["a"],["b"],["c"]],)"
    R"("latency_s":[[0,1,1],[1,0,1],[1,1,0]],"bandwidth_Bps":[[null,1,1],[1,null,1],[1,1,null]],)"
    R"("nic_out_Bps":[],"nic_in_Bps":[],"groups":[]})";
const std::string kCollectives =
    R"({"format":"fairlead-collectives","version":2,"num_ranks":8,"is_reproducible":false,"rules":[)"
    R"({"operation":"bcast","min_bytes":64,"max_bytes":128,"hosts":[2,0],"num_ranks":4,)"
    R"("method":"forest"},)"
    R"({"operation":"allgather","min_bytes":1,"max_bytes":null,"hosts":null,"method":"ring"}]})";

CollectivesPlan plan_of(const std::string& collectives) {
  return parse_collectives_plan({"N", kNetwork}, {"C", collectives}, 8);
}

std::string problem_with(const std::string& old, const std::string& replacement) {
  std::string text = kCollectives;
  try {
    (void)plan_of(text.replace(text.find(old), old.size(), replacement));
  } catch (const fairlead::InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("rules: both bounds of a size belong to it, null has none") {
  const auto rules = plan_of(kCollectives).rules;

  CHECK(rules[0].covers(Operation::bcast, 64));
  CHECK(rules[0].covers(Operation::bcast, 128));
  CHECK_FALSE(rules[0].covers(Operation::bcast, 63));
  CHECK_FALSE(rules[0].covers(Operation::bcast, 129));
  CHECK_FALSE(rules[0].covers(Operation::reduce, 64));
  CHECK(rules[1].covers(Operation::allgather, std::uint64_t{1} << 40));
}

TEST_CASE("rules: hosts are put in order, null is any") {
  const auto rules = plan_of(kCollectives).rules;

  CHECK(rules[0].hosts == std::vector<std::int32_t>{0, 2});
  CHECK(rules[1].hosts.empty());
}

TEST_CASE("rules: they are for communicators on their hosts with so many ranks") {
  const auto rules = plan_of(kCollectives).rules;

  CHECK(rules[0].is_for({0, 2}, 4));
  CHECK_FALSE(rules[0].is_for({0, 2}, 2));
  CHECK_FALSE(rules[0].is_for({0, 1, 2}, 4));
  CHECK(rules[1].is_for({1, 2}, 7));
}

namespace {

DriftRule drift_rule_of(const char* fields) {
  return plan_of(std::string(R"({"format":"fairlead-collectives","version":2,)") +
                 R"("num_ranks":8,"rules":[],)" + fields + "}")
      .drift;
}

}  // namespace

TEST_CASE("rules: calls are watched only where the plan says from which drift on") {
  CHECK_FALSE(drift_rule_of(R"("is_reproducible":false)").is_on());
  CHECK(drift_rule_of(R"("is_reproducible":false,"max_drift_ratio":0.2)").is_on());
  CHECK_FALSE(drift_rule_of(R"("is_reproducible":true,"max_drift_ratio":0.2)").is_on());
}

TEST_CASE("rules: the plan says from what times drift, and what looking after them may cost") {
  const DriftRule by_default = drift_rule_of(R"("is_reproducible":false,"max_drift_ratio":0.2)");
  const DriftRule given =
      drift_rule_of(R"("is_reproducible":false,"max_drift_ratio":0.2,"drift_from":"predicted",)"
                    R"("max_watching_ratio":0.5)");

  CHECK(by_default.expected == Expected::measured);
  CHECK(by_default.max_cost_ratio == 0.005);
  CHECK(given.expected == Expected::predicted);
  CHECK(given.max_cost_ratio == 0.5);
}

namespace {

/// A plan whose only rule has these fields, too.
std::string untimed(const char* head, const char* fields) {
  return std::string(R"({"format":"fairlead-collectives","version":2,"num_ranks":8,)") + head +
         R"(,"rules":[{"operation":"bcast","min_bytes":1,"max_bytes":null,"hosts":null,)" +
         R"("method":"forest")" + fields + "}]}";
}

std::string problem_of(const std::string& collectives) {
  try {
    (void)plan_of(collectives);
  } catch (const fairlead::InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("rules: a method that was not timed has a saving that it has to promise") {
  constexpr const char* kWatched = R"("is_reproducible":false,"max_drift_ratio":0.2)";
  const auto ratio_of = [](const char* fields) {
    return plan_of(untimed(kWatched, fields)).rules[0].least_saved_ratio;
  };

  CHECK(ratio_of("") == std::nullopt);
  CHECK(ratio_of(R"(,"least_saved_ratio":null)") == std::nullopt);
  CHECK(ratio_of(R"(,"least_saved_ratio":0.5)") == 0.5);
  CHECK(problem_of(untimed(kWatched, R"(,"least_saved_ratio":1)")) ==
        "C: rules[0]: least_saved_ratio: expected less than 1");
}

TEST_CASE("rules: a method that was not timed needs a watch, which compares it") {
  constexpr const char* kProblem =
      "C: rules[0]: least_saved_ratio: needs max_drift_ratio, and a plan not reproducible";
  constexpr const char* kRatio = R"(,"least_saved_ratio":0.5)";

  CHECK(problem_of(untimed(R"("is_reproducible":false)", kRatio)) == kProblem);
  CHECK(problem_of(untimed(R"("is_reproducible":true,"max_drift_ratio":0.2)", kRatio)) == kProblem);
}

TEST_CASE("rules: what is wrong is refused by name") {
  CHECK(problem_with("\"num_ranks\":8", "\"num_ranks\":9") == "C: num_ranks: the program has 8");
  CHECK(problem_with("[2,0]", "[2,3]") ==
        "C: rules[0]: hosts[1]: expected a whole number from 0 to 2, got 3");
  CHECK(problem_with("[2,0]", "[2,2]") == "C: rules[0]: hosts: a host is named twice");
  CHECK(problem_with("\"num_ranks\":4", "\"num_ranks\":0") ==
        "C: rules[0]: num_ranks: expected a whole number from 1 to 2147483647, got 0");
  CHECK(problem_with("[2,0]", "[]") == "C: rules[0]: hosts: expected a host");
  CHECK(problem_with("\"max_bytes\":128", "\"max_bytes\":63") ==
        "C: rules[0]: max_bytes: expected a whole number from 64 to 9223372036854775807, got 63");
  CHECK(problem_with("\"forest\"", "\"ring\"") ==
        "C: rules[0]: method: no method for bcast is named \"ring\"");
  CHECK(problem_with("\"hosts\":null,", "") == "C: rules[1]: hosts: is missing");
  CHECK(problem_with("\"rules\"", "\"drift_from\":\"x\",\"rules\"") ==
        "C: drift_from: expected \"measured\" or \"predicted\", got \"x\"");
  CHECK(problem_with("false", "0") == "C: is_reproducible: expected true or false, got 0");
}
