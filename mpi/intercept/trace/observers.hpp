// SPDX-License-Identifier: Apache-2.0
// What tracing does around a call. Each makes the call and returns its code; as a part of the
// wrapper, so that they have nothing to clean up when the call is left by a jump.
#pragma once

#include "pmpi/clock.hpp"
#include "pmpi/nesting.hpp"
#include "trace/recorder.hpp"

namespace fairlead::intercept {

/// Counts a call that the program itself makes, after it succeeded.
template <class MakeCall, class Count>
[[gnu::always_inline]] inline int observe_counted(const MakeCall& make_call, const Count& count) {
  const bool is_outermost = enter_call();
  const int code = make_call();
  if (is_outermost) {
    if (code == MPI_SUCCESS) count();
    leave_call();
  }
  return code;
}

/// The same for a collective, with its time.
template <class MakeCall, class Meaning>
[[gnu::always_inline]] inline int observe_collective(Call call, MPI_Comm comm,
                                                     const MakeCall& make_call,
                                                     const Meaning& meaning) {
  const double start_s = now_s();
  return observe_counted(make_call,
                         [&] { record_collective(call, comm, now_s() - start_s, meaning); });
}

/// Remembers what each start of a persistent collective will count.
template <class MakeCall, class Meaning>
[[gnu::always_inline]] inline int observe_collective_init(Call call, MPI_Comm comm,
                                                          const MPI_Request* request,
                                                          const MakeCall& make_call,
                                                          const Meaning& meaning) {
  return observe_counted(make_call, [&] { record_collective_init(call, comm, request, meaning); });
}

/// The program may not come back from the call, so its meaning comes first.
template <class MakeCall, class Meaning>
[[gnu::always_inline]] inline int observe_ending(const MakeCall& make_call,
                                                 const Meaning& meaning) {
  meaning();
  return make_call();
}

/// `release` has begun before the call and ends after it, however that came out. What an
/// attribute's delete callback sends meanwhile is the program's own.
template <class MakeCall, class Release>
[[gnu::always_inline]] inline int observe_released(const MakeCall& make_call,
                                                   const Release& release) {
  const int code = make_call();
  release.end();
  return code;
}

}  // namespace fairlead::intercept
