// SPDX-License-Identifier: Apache-2.0
// Whether all ranks run with the library and with the same variables, found out without a message
// to any of them: a rank that lacks the library would take it for one of the program's own.
#pragma once

#include "session/features.hpp"

namespace fairlead::intercept {

/// The features that all ranks request, the same on each of them. To be called in MPI_Init by every
/// rank with the library. A rank that requests nothing does not wait. If a rank is missing after
/// ten seconds, no feature begins. One line reports each feature that is switched off.
[[nodiscard]] Features agree(Features own);

/// Withdraws the published names; after the first collective, when all ranks have read them.
void end_agreement();

}  // namespace fairlead::intercept
