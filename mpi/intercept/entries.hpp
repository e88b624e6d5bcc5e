// SPDX-License-Identifier: Apache-2.0
// The exported functions of the table: each goes to its wrapper, or straight to the MPI.
#pragma once

namespace fairlead::intercept {

/// From now on every call goes straight to the program's own MPI, even to one of another family.
void bypass_wrappers() noexcept;

/// From now on a call goes to its wrapper if a feature handles it, or if it is observed and calls
/// are recorded; every other goes straight to the MPI.
void enter_wrappers() noexcept;

}  // namespace fairlead::intercept
