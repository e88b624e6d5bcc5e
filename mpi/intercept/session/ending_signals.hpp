// SPDX-License-Identifier: Apache-2.0
// What ends a program by a signal that it does not handle: the last share of the trace is written,
// and then the signal does what it would have done.
#pragma once

namespace fairlead::intercept {

// A simulated program gets no signals of its own.
#if defined(FAIRLEAD_LINKED)
inline void catch_ending_signals() noexcept {}
inline void release_ending_signals() noexcept {}
#else

/// Handles SIGTERM, SIGINT, SIGHUP and SIGXCPU, each only where the program leaves it to its
/// default. A handler that the program sets later takes the place of ours.
void catch_ending_signals() noexcept;

/// The default again, where the handler is still ours.
void release_ending_signals() noexcept;

#endif
}  // namespace fairlead::intercept
