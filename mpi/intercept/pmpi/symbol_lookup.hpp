// SPDX-License-Identifier: Apache-2.0
// Finds functions and variables of the MPI library of a program that the library is preloaded into.
#pragma once

namespace fairlead::intercept {

/// Address of a function, or null where the program's MPI has none of that name.
[[nodiscard]] void* find_symbol(const char* name) noexcept;

/// Address of a variable, or null. A program may hold its own copy of a library's variable (a copy
/// relocation), and then that is the one in use: so the search begins with the program.
[[nodiscard]] void* find_variable(const char* name) noexcept;

}  // namespace fairlead::intercept
