// SPDX-License-Identifier: Apache-2.0
// What is done at every call that is watched.
#pragma once

#include <mpi.h>

#include <new>

#include "plan/world_hosts.hpp"
#include "pmpi/clock.hpp"

namespace fairlead::intercept {

/// The code of a call, also where it throws.
template <class Call>
int code_of(const Call& call) noexcept {
  try {
    return call();
  } catch (const MpiFailure& failure) {
    return failure.code;
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  } catch (...) {
    return MPI_ERR_INTERN;
  }
}

/// Makes a call, and adds what it took, or counts it where its time is not wanted. It does so after
/// an error, too: the call may have failed on this rank alone, and the number of calls decides on
/// all ranks when they agree.
/// @param times  WatchedTimes, or something like them
/// @return what the call returns
template <class Times, class Call>
int watched_call(Times& times, const Call& call) noexcept {
  const bool is_timed = times.is_timed_next();
  const double begin_s = is_timed ? now_s() : 0.0;
  const int code = code_of(call);
  if (is_timed) {
    times.add(now_s() - begin_s);
  } else {
    times.count();
  }
  return code;
}

}  // namespace fairlead::intercept
