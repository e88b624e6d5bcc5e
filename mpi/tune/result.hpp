// SPDX-License-Identifier: Apache-2.0
// The document in which rank 0 returns the times to Python.
#pragma once

#include "comparison.hpp"

namespace fairlead::tune {

/// Prints one JSON document on one line of standard output, which every launcher forwards.
/// @throws std::runtime_error with the reason
void print_result(const ComparisonResult& result);

}  // namespace fairlead::tune
