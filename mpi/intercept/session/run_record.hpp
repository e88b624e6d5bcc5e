// SPDX-License-Identifier: Apache-2.0
// What features write into the record of the run when they end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fairlead::intercept {

/// Writes a document into the folder that FAIRLEAD_RECORD names, as `NAME-RANK.json`. A process
/// without this variable writes none, nor does one that does not see the folder; another failure is
/// reported in one line.
/// @param rank  of MPI_COMM_WORLD
/// @param what  of which the line says that it is not recorded
void write_record(const std::string& name, int rank, const nlohmann::ordered_json& document,
                  const char* what);

}  // namespace fairlead::intercept
