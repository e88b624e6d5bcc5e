// SPDX-License-Identifier: Apache-2.0
// What the library does at every watched call, again and again without the call. Prints the seconds
// that it takes for one call, and those of timing one.
//
// watching CALL_SECONDS AGREEMENT_SECONDS CALLS
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "collectives/watched_call.hpp"
#include "collectives/watched_times.hpp"

namespace {

using namespace fairlead::intercept;

/// Stands in for a call: the compiler takes nothing in memory as known after it.
int nothing() {
  asm volatile("" : : : "memory");
  return MPI_SUCCESS;
}

/// Seconds of one, the least of several repeats: other programs only add to it.
template <class Call>
double least_s(int num_calls, Call call) {
  double least_s = 1e9;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const double begin_s = now_s();
    for (int done = 0; done < num_calls; ++done) call();
    least_s = std::min(least_s, (now_s() - begin_s) / num_calls);
  }
  return least_s;
}

}  // namespace

int main(int, char** argv) {
  const double call_s = std::atof(argv[1]), agreement_s = std::atof(argv[2]);
  const int num_calls = std::atoi(argv[3]);
  WatchedTimes times(call_s, {.max_ratio = 0.2});
  times.begin_window(agreement_s, call_s);
  const double alone_s = least_s(num_calls, nothing);
  const double watched_s = least_s(num_calls, [&] {
    watched_call(times, nothing);
    if (times.is_due()) times.begin_window(agreement_s, call_s);
  });
  const double timed_s = least_s(num_calls, [&] {
    const double begin_s = now_s();
    nothing();
    times.add(now_s() - begin_s);
  });
  std::printf("%.4g %.4g\n", watched_s - alone_s, timed_s - alone_s);
}
