// SPDX-License-Identifier: Apache-2.0
// Why a program that was to be traced leaves no trace: what only its end can show.
#pragma once

namespace fairlead::intercept {

// A program that is linked with the library is no other program than the one to trace.
#if defined(FAIRLEAD_LINKED)
inline void note_begin(bool) noexcept {}
inline void note_end() noexcept {}
#else

/// The program has called MPI_Init; `is_traced` where its trace has begun.
void note_begin(bool is_traced) noexcept;

/// The program has called MPI_Finalize.
void note_end() noexcept;

#endif
}  // namespace fairlead::intercept
