// SPDX-License-Identifier: Apache-2.0
// Starts threads that leave signals to the program's own.
#pragma once

#include <pthread.h>

#include <csignal>

namespace fairlead {

/// Threads that are started while it lives take no signals: the program's handlers run in its own
/// threads.
class WithoutSignals {
 public:
  WithoutSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

 private:
  sigset_t former_{};
};

}  // namespace fairlead
