// SPDX-License-Identifier: Apache-2.0
// Reads schedules from JSON (docs/reference/plan.md).
#pragma once

#include "fairlead/collectives/schedule.hpp"
#include "json/value.hpp"

namespace fairlead::collectives {

/// Reads what `Schedule.to_json` of the Python package wrote, and checks it.
/// @throws InputError  names the field
[[nodiscard]] Schedule read_schedule(const json::Value& value);

}  // namespace fairlead::collectives
