// SPDX-License-Identifier: Apache-2.0
// The first line of a trace file and of a rank's share: JSON that names the rows of each table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trace/record.hpp"

namespace fairlead::intercept {

/// The name and version of the program's MPI, one line.
[[nodiscard]] std::string library_name();

/// The line, with blanks in front of its end, so that the tables begin at a multiple of 64 bytes.
/// @param fields     format and version, and what this kind of file has before the rest
/// @param num_ranks  rows of the table of ranks
/// @param num_bytes  of each of the other tables
[[nodiscard]] std::string header_line(nlohmann::ordered_json fields, std::size_t num_ranks,
                                      const std::array<std::uint64_t, kNumTables>& num_bytes);

[[nodiscard]] std::array<std::uint64_t, kNumTables> sizes_of_tables(const RankRecord& record);

}  // namespace fairlead::intercept
