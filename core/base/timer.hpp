// SPDX-License-Identifier: Apache-2.0
// The time since a run began.
#pragma once

#include <chrono>

namespace fairlead {

/// Begins when it is made.
class Timer {
 public:
  [[nodiscard]] double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace fairlead
