// SPDX-License-Identifier: Apache-2.0
// The exported functions of the table: each goes on to its wrapper, or past it.
#pragma once

namespace fairlead::intercept {

/// From now on every call goes straight to the program's own MPI, whichever that is.
void bypass_wrappers() noexcept;

}  // namespace fairlead::intercept
