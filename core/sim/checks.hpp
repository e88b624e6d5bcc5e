// SPDX-License-Identifier: Apache-2.0
// Checks of a simulation's input.
#pragma once

#include <string>
#include <vector>

#include "fairlead/sim/simulation.hpp"

namespace fairlead::sim {

/// @throws InputError  it does not hold; `what` is the message
void require(bool holds, const std::string& what);

/// @throws InputError  the machine has no core, or a rate that is not above 0
void check(const Machine& machine);

/// @throws InputError  a stream names a core or a job that is not there, or its times or sizes are
/// impossible, or together exceed the range of the clock
void check(const Machine& machine, const std::vector<MessageStream>& streams,
           std::int64_t num_jobs);

}  // namespace fairlead::sim
