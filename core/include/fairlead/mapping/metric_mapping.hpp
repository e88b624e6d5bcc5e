// SPDX-License-Identifier: Apache-2.0
// Tasks on cores by a metric of the network: one call of Scotch, as ORACLE section III-D uses it.
#pragma once

#include <cstdint>
#include <vector>

#include "fairlead/matrices.hpp"

namespace fairlead {

/// A core for each of T tasks: Scotch's dual recursive bisection of the task graph and of the
/// complete graph of C cores, called once. Thread-safe, one caller at a time.
/// Scotch needs whole numbers from 1 on as edge weights: the metric is scaled to 1..1000, where 0
/// becomes 1. It may put two tasks on one core: those are moved to free cores, the cheapest first.
/// @param traffic  (T, T); both directions of a pair are added up
/// @param weight  edge weight of each pair of cores, (C, C), symmetric, diagonal 0, each finite >=
/// 0
/// @param seed  of Scotch's random numbers; same seed, same answer
/// @pre 1 <= T <= C
/// @return core of each task, all distinct
/// @throws Error  Scotch failed; the message is Scotch's own
[[nodiscard]] std::vector<std::int64_t> scotch_metric_mapping(const RankMatrix& traffic,
                                                              const HostMatrix& weight,
                                                              std::uint32_t seed);

}  // namespace fairlead
