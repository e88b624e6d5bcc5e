// SPDX-License-Identifier: Apache-2.0
// Looks for wrappers and releases among the callers of a function.
#include "pmpi/nesting.hpp"

#include <unwind.h>

#include <cstdint>

// The linker marks both ends of a section whose name is a C identifier, by names of its own.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
extern const char __start_fairlead_wrappers[] __attribute__((visibility("hidden")));
extern const char __stop_fairlead_wrappers[] __attribute__((visibility("hidden")));
// Weak: a test may have none.
extern const char __start_fairlead_releases[] __attribute__((weak, visibility("hidden")));
extern const char __stop_fairlead_releases[] __attribute__((weak, visibility("hidden")));
}
// NOLINTEND(bugprone-reserved-identifier)

namespace fairlead::intercept {
namespace {

struct Section {
  std::uintptr_t begin;
  std::uintptr_t end;
  int num_frames = 0;
};

_Unwind_Reason_Code count_frame(_Unwind_Context* frame, void* counted) {
  auto& section = *static_cast<Section*>(counted);
  const std::uintptr_t address = _Unwind_GetIP(frame);
  if (section.begin <= address && address <= section.end) ++section.num_frames;
  return _URC_NO_REASON;
}

// Functions of the section that are under way in this thread.
int num_frames_of(const char* begin, const char* end) noexcept {
  Section section{.begin = reinterpret_cast<std::uintptr_t>(begin),
                  .end = reinterpret_cast<std::uintptr_t>(end)};
  if (section.begin != section.end) _Unwind_Backtrace(&count_frame, &section);
  return section.num_frames;
}

}  // namespace

bool is_called_by_a_wrapper() noexcept {
  return num_frames_of(__start_fairlead_wrappers, __stop_fairlead_wrappers) > 1;
}

bool is_called_by_a_release() noexcept {
  return num_frames_of(__start_fairlead_releases, __stop_fairlead_releases) > 0;
}

}  // namespace fairlead::intercept
