// SPDX-License-Identifier: Apache-2.0
// CMPI's discretisation of measured values, and how many pairs differ by direction after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead::collectives {

/// Level of each value, by the least positive one outside the diagonal; the diagonal is 0.
/// @param values  (H, H), times or what is like a time: less is better
/// @param factor  k, > 0
/// Source: CMPI, section 3.
[[nodiscard]] std::vector<std::int32_t> discretised(std::span<const double> values,
                                                    std::size_t num_hosts, double factor);

/// Share of pairs of hosts whose two directions differ in level; 0 where there is no pair.
/// Source: CMPI, section 3, symmetry.
[[nodiscard]] double asymmetric_ratio(std::span<const std::int32_t> level_of_pair,
                                      std::size_t num_hosts);

}  // namespace fairlead::collectives
