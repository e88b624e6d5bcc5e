// SPDX-License-Identifier: Apache-2.0
// What features leave in the record of the run when they end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fairlead::intercept {

/// Writes a document into the folder that FAIRLEAD_RECORD names, as `NAME-RANK.json`. A process
/// without this variable leaves none, nor does one that does not see the folder; another failure is
/// reported in one line.
/// @param rank  of MPI_COMM_WORLD
/// @param what  of which the line says that it is not recorded
void leave_in_record(const std::string& name, int rank, const nlohmann::ordered_json& document,
                     const char* what);

}  // namespace fairlead::intercept
