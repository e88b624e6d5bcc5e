// SPDX-License-Identifier: Apache-2.0
// Whether all ranks run with the library and with the same variables, found out without a message
// to any of them: a rank that lacks the library would take it for one of the program's own.
#pragma once

#include "session/features.hpp"

namespace fairlead::intercept {

/// What all ranks ask for, the same on each of them. To be called in MPI_Init by every rank with
/// the library; who asks for nothing does not wait, and where a rank does not come within ten
/// seconds, none begins. What is switched off is said in one line.
[[nodiscard]] Features agree(Features own);

/// Takes back what was published; after the first collective of what begins, when all have read it.
void end_agreement();

}  // namespace fairlead::intercept
