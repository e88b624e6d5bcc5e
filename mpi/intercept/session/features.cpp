// SPDX-License-Identifier: Apache-2.0
// Reads the environment.
#include "session/features.hpp"

#include <cstdio>
#include <cstdlib>

namespace fairlead::intercept {

const char* variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

void say_switched_off(Features features, const char* problem) noexcept {
  if (features.are_none()) return;
  const char* const feature = !features.trace ? "the plan"
                              : variable(kSharesVariable) != nullptr
                                  ? "gathering the trace in MPI_Finalize"
                                  : "tracing";
  std::fprintf(stderr, "fairlead: %s is switched off: %s\n", feature, problem);
}

}  // namespace fairlead::intercept
