// SPDX-License-Identifier: Apache-2.0
// Schedules as JSON (docs/reference/plan.md).
#pragma once

#include <string>

#include "fairlead/collectives/schedule.hpp"
#include "json/value.hpp"

namespace fairlead::collectives {

/// Reads what `Schedule.to_json` of the Python package wrote, and checks it.
/// @throws InputError  names the field
[[nodiscard]] Schedule read_schedule(const json::Value& value);

/// The text that `read_schedule` reads, without blanks.
[[nodiscard]] std::string write_schedule(const Schedule& schedule);

}  // namespace fairlead::collectives
