// SPDX-License-Identifier: Apache-2.0
// Prevents the cancellation of a thread while it runs Fairlead's own code.
#pragma once

#include <pthread.h>

namespace fairlead::intercept {

/// While it lives, this thread is not cancelled: a request waits for the program's next own
/// cancellation point. Otherwise the unwinding would pass through frames that must not throw.
class NoCancellation {
 public:
  NoCancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &former_); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;
  ~NoCancellation() { pthread_setcancelstate(former_, nullptr); }

 private:
  int former_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace fairlead::intercept
