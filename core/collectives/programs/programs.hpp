// SPDX-License-Identifier: Apache-2.0
// One program for each form; program_of() chooses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/program.hpp"

namespace fairlead::collectives {

/// Messages after which a host has all that it waits for, one list for each host.
using AwaitedOfHost = std::vector<std::vector<std::int32_t>>;

[[nodiscard]] Program forest_program(const Schedule& schedule);
[[nodiscard]] Program ring_program(const Schedule& schedule, const BlockBytes& blocks);
[[nodiscard]] Program linear_program(const Schedule& schedule, const BlockBytes& blocks);
[[nodiscard]] Program doubling_program(const Schedule& schedule);
[[nodiscard]] Program dissemination_program(const Schedule& schedule, const BlockBytes& blocks);
/// @param upwards  gather instead of scatter
[[nodiscard]] Program split_tree_program(std::span<const std::int32_t> parent_of_host,
                                         const BlockBytes& blocks, bool upwards);
[[nodiscard]] Program levels_program(const Schedule& schedule);
[[nodiscard]] Program native_program(const Schedule& schedule, const BlockBytes& blocks);

/// A textbook bcast among the hosts of `order`, the first of which is the root.
void append_bcast(Program& program, std::span<const std::int32_t> order, double num_bytes,
                  AwaitedOfHost& awaited_of_host);

/// Position of the parent in a binomial tree; `position` > 0.
[[nodiscard]] std::size_t binomial_parent(std::size_t position);

/// The same messages backwards: bcast becomes reduce, scatter becomes gather.
[[nodiscard]] Program reversed(const Program& program);

}  // namespace fairlead::collectives
