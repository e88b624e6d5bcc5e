// SPDX-License-Identifier: Apache-2.0
// What has carried the large messages of this process, for the record of the run.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::intercept::relay {

/// Counts a message that may be relayed and is left to the MPI. Thread-safe.
void count_by_mpi(std::uint32_t dst_rank, std::uint64_t size_bytes);

/// Writes the bytes of each path into the folder, as `relay-RANK.json`; a rank without such
/// messages writes only if it is rank 0.
/// @pre the messenger has started
/// @return 0, or the errno of what failed
[[nodiscard]] int write_carried(const std::string& folder);

}  // namespace fairlead::intercept::relay
