// SPDX-License-Identifier: Apache-2.0
// Looks for wrappers among the callers of a wrapper.
#include "pmpi/nesting.hpp"

#include <unwind.h>

#include <cstdint>

// The linker marks both ends of a section whose name is a C identifier, by names of its own.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
extern const char __start_fairlead_wrappers[] __attribute__((visibility("hidden")));
extern const char __stop_fairlead_wrappers[] __attribute__((visibility("hidden")));
}
// NOLINTEND(bugprone-reserved-identifier)

namespace fairlead::intercept {
namespace {

_Unwind_Reason_Code count_wrapper(_Unwind_Context* frame, void* num_wrappers) {
  const std::uintptr_t address = _Unwind_GetIP(frame);
  if (address >= reinterpret_cast<std::uintptr_t>(__start_fairlead_wrappers) &&
      address <= reinterpret_cast<std::uintptr_t>(__stop_fairlead_wrappers)) {
    ++*static_cast<int*>(num_wrappers);
  }
  return _URC_NO_REASON;
}

}  // namespace

bool is_called_by_a_wrapper() noexcept {
  int num_wrappers = 0;
  _Unwind_Backtrace(&count_wrapper, &num_wrappers);
  return num_wrappers > 1;
}

}  // namespace fairlead::intercept
