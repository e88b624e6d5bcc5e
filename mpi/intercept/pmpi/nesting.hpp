// SPDX-License-Identifier: Apache-2.0
// Distinguishes the program's own calls from those that its MPI makes inside of a traced call.
#pragma once

/// The section of the wrappers. If one of them is on the stack, a traced call is under way.
#define FAIRLEAD_WRAPPER_SECTION __attribute__((section("fairlead_wrappers")))
/// The section of handlers that free a communicator: where nothing is traced the compiler may jump
/// from a wrapper to its handler, and no wrapper is on the stack then.
#define FAIRLEAD_RELEASE_SECTION __attribute__((section("fairlead_releases")))

namespace fairlead::intercept {
namespace detail {
inline constinit thread_local bool is_in_call = false;
}

/// Whether the calling wrapper was itself called by another one, directly or indirectly. Walks the
/// stack.
[[nodiscard]] bool is_called_by_a_wrapper() noexcept;

/// Whether a handler that frees a communicator is on the stack. Walks the stack.
[[nodiscard]] bool is_called_by_a_release() noexcept;

/// Marks that this thread is inside a traced call; false when it was before: the call is nested.
///
/// A longjmp out of an error handler, an exception and a cancelled thread leave a call behind whose
/// mark stays: a longjmp calls no destructor that would remove it. So a mark that is found counts
/// only if the stack confirms it.
[[nodiscard]] inline bool enter_call() noexcept {
  if (detail::is_in_call && is_called_by_a_wrapper()) [[unlikely]]
    return false;
  detail::is_in_call = true;
  return true;
}

/// Removes the mark that `enter_call` made.
inline void leave_call() noexcept {
  detail::is_in_call = false;
}

}  // namespace fairlead::intercept
