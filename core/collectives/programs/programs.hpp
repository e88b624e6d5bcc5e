// SPDX-License-Identifier: Apache-2.0
// One program for each form; program_of() chooses.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/program.hpp"

namespace fairlead::collectives {

[[nodiscard]] Program forest_program(const Schedule& schedule);
[[nodiscard]] Program ring_program(const Schedule& schedule, const BlockBytes& blocks);
[[nodiscard]] Program linear_program(const Schedule& schedule, const BlockBytes& blocks);
[[nodiscard]] Program doubling_program(const Schedule& schedule);
[[nodiscard]] Program dissemination_program(const Schedule& schedule, const BlockBytes& blocks);
[[nodiscard]] Program two_level_program(const Schedule& schedule, const BlockBytes& blocks);
/// @param upwards  gather instead of scatter
[[nodiscard]] Program split_tree_program(std::span<const std::int32_t> parent_of_host,
                                         const BlockBytes& blocks, bool upwards);
[[nodiscard]] Program levels_program(const Schedule& schedule);
[[nodiscard]] Program native_program(const Schedule& schedule, const BlockBytes& blocks);

/// The same messages backwards: bcast becomes reduce, scatter becomes gather, and allgather
/// reduce_scatter.
[[nodiscard]] Program reversed(const Program& program);

}  // namespace fairlead::collectives
