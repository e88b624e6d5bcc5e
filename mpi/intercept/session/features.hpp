// SPDX-License-Identifier: Apache-2.0
// The features that variables of the environment request.
#pragma once

namespace fairlead::intercept {

constexpr const char* kTraceVariable = "FAIRLEAD_TRACE";
constexpr const char* kPlanVariable = "FAIRLEAD_PLAN";
/// Folder into which each rank writes its own share of the trace.
constexpr const char* kSharesVariable = "FAIRLEAD_SHARES";
/// Seconds between two shares of a rank, in the place of 30.
constexpr const char* kIntervalVariable = "FAIRLEAD_SHARE_INTERVAL";
/// Folder into which features write what they have done.
constexpr const char* kRecordVariable = "FAIRLEAD_RECORD";
/// For launchers without a name service: the user declares that every rank has the library.
constexpr const char* kEveryRankVariable = "FAIRLEAD_EVERY_RANK";

/// Features that begin by collectives, so on all ranks or on none.
struct Features {
  bool trace;
  bool plan;

  [[nodiscard]] bool are_none() const { return !trace && !plan; }
};

/// The value of a variable of the environment; null if it is empty or missing.
[[nodiscard]] const char* variable(const char* name) noexcept;

/// Reports in one line that requested tracing or a plan is switched off.
void say_switched_off(Features features, const char* problem) noexcept;

}  // namespace fairlead::intercept
