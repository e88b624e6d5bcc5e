// SPDX-License-Identifier: Apache-2.0
// The methods of planning, one file each; catalogue.cpp lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/links.hpp"
#include "fairlead/collectives/planning.hpp"

namespace fairlead::collectives {

/// From here on fewer variants are simulated, so that planning takes about a second.
inline constexpr std::size_t kManyHosts = 128;

/// What a method is given. It looks, it does not own.
struct Problem {
  const MeasuredNetwork& network;
  const Links& links;
  const Request& request;
  std::span<const std::int32_t> island_of_host;  ///< islands_of(links)
  std::uint64_t segment_bytes;                   ///< of the method; 0: not fixed
};

[[nodiscard]] Schedule plan_cmpi(const Problem& problem);
[[nodiscard]] Schedule plan_leader_tree(const Problem& problem);
[[nodiscard]] Schedule plan_pipeline(const Problem& problem);
[[nodiscard]] Schedule plan_forest(const Problem& problem);
[[nodiscard]] Schedule plan_ring(const Problem& problem);
[[nodiscard]] Schedule plan_linear(const Problem& problem);
[[nodiscard]] Schedule plan_doubling(const Problem& problem);
[[nodiscard]] Schedule plan_dissemination(const Problem& problem);
[[nodiscard]] Schedule plan_two_level(const Problem& problem);
[[nodiscard]] Schedule plan_native(const Problem& problem);

/// A schedule of this form, nothing else decided yet.
[[nodiscard]] Schedule begun(const Problem& problem, Form form);

/// All messages at once, hosts as they are numbered; its time is not predicted yet.
[[nodiscard]] Schedule linear_as_given(const Problem& problem);

/// Predicts the time, not finely, and keeps the faster of the two.
void keep_faster(const Problem& problem, Schedule candidate, Schedule& best);

/// Size of a message of a block operation: that of the largest block.
[[nodiscard]] double largest_block_bytes(const Request& request);

/// Size of a message of an operation without root: an allreduce cuts its vector into blocks.
[[nodiscard]] double unrooted_block_bytes(const Problem& problem);

/// Hosts in an order of a ring for these messages, the root first where there is one.
[[nodiscard]] std::vector<std::int32_t> near_order(const Problem& problem);

}  // namespace fairlead::collectives
