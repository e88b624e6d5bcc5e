// SPDX-License-Identifier: Apache-2.0
// What is asked for by variables of the environment.
#pragma once

namespace fairlead::intercept {

constexpr const char* kTraceVariable = "FAIRLEAD_TRACE";
constexpr const char* kPlanVariable = "FAIRLEAD_PLAN";
/// Set by a user whose launcher has no name service, and who knows that no rank is left out.
constexpr const char* kEveryRankVariable = "FAIRLEAD_EVERY_RANK";

/// What begins by collectives, and so begins on all ranks or on none.
struct Features {
  bool trace;
  bool plan;

  [[nodiscard]] bool are_none() const { return !trace && !plan; }
};

/// The value of a variable of the environment; null where it is empty or missing.
[[nodiscard]] const char* variable(const char* name) noexcept;

/// Says in one line that tracing or reordering, as asked for, does not take place.
void say_switched_off(Features features, const char* problem) noexcept;

}  // namespace fairlead::intercept
