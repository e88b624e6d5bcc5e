// SPDX-License-Identifier: Apache-2.0
// Schedules from JSON: test_schedules.py reads those of the Python package, this tests the errors.
#include "schedule_json.hpp"

#include <string>

#include "../../core/catch.hpp"
#include "fairlead/error.hpp"

namespace {

const std::string kTwoTrees =
    R"({"kind":"schedule","version":1,"operation":"bcast","form":"forest","method":"forest",)"
    R"("num_hosts":3,"root":0,"message_bytes":8,"predicted_s":0.5,"lower_bound_s":0.25,)"
    R"("order":[],"trees":[[-1,0,1],[-1,2,0]],"tree_of_segment":[1,0],)"
    R"("share_of_segment":[0.25,0.75],"levels":[],"window":2,"max_sends":1,"num_parts":0})";

fairlead::collectives::Schedule schedule_of(const std::string& text) {
  const fairlead::json::Document document("S", text);
  return fairlead::collectives::read_schedule(document.root());
}

std::string problem_with(const std::string& old, const std::string& replacement) {
  std::string text = kTwoTrees;
  try {
    (void)schedule_of(text.replace(text.find(old), old.size(), replacement));
  } catch (const fairlead::InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("schedule: segments are read with their trees and shares") {
  const auto schedule = schedule_of(kTwoTrees);

  REQUIRE(schedule.segments.size() == 2);
  CHECK(schedule.segments[0].tree == 1);
  CHECK(schedule.segments[0].share_ratio == 0.25);
  CHECK(schedule.trees[1] == fairlead::collectives::ParentOfHost{-1, 2, 0});
  CHECK(schedule.max_sends == 1);
}

TEST_CASE("schedule: what is written is what was read") {
  const std::string text = write_schedule(schedule_of(kTwoTrees));

  CHECK(write_schedule(schedule_of(text)) == text);
  CHECK(schedule_of(text).segments[1].share_ratio == 0.75);
}

TEST_CASE("schedule: what is wrong is refused by name") {
  CHECK(problem_with("[1,0]", "[1]") ==
        "S: share_of_segment: expected a list of length 1, got one of 2");
  CHECK(problem_with("\"window\":2", "\"window\":-1") ==
        "S: window: expected a whole number from 0 to 2147483647, got -1");
  CHECK(problem_with("\"kind\":\"schedule\"", "\"kind\":\"plan\"") ==
        "S: kind: expected \"schedule\"");
  CHECK(problem_with("\"num_parts\"", "\"parts\"") == "S: unknown field \"parts\"");
}

TEST_CASE("schedule: what no executor could follow is refused") {
  CHECK(problem_with("[-1,2,0]", "[-1,2,1]") == "S: schedule: tree: hosts in a cycle");
}
