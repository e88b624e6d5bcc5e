// SPDX-License-Identifier: Apache-2.0
// Whether all ranks run with the library and with the same variables, found out without a message
// to any of them: a rank that lacks the library would take it for one of the program's own.
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

/// What all ranks ask for, the same on each of them. To be called in MPI_Init by every rank with
/// the library; who asks for nothing does not wait, and where a rank does not come within ten
/// seconds, none begins. What is switched off is said in one line.
[[nodiscard]] Features agree(Features own);

/// Takes back what was published; after the first collective of what begins, when all have read it.
void end_agreement();

/// The value of a variable of the environment; null where it is empty or missing.
[[nodiscard]] const char* variable(const char* name) noexcept;

/// Says in one line that tracing or reordering, as asked for, does not take place.
void say_switched_off(Features features, const char* problem) noexcept;

}  // namespace fairlead::intercept
