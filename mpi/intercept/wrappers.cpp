// SPDX-License-Identifier: Apache-2.0
// One wrapper per row of the table: the call itself first, then what it means.
//
// A wrapper may be left by a longjmp, an exception or the end of its thread. So nothing with a
// destructor lives across the call, and everything that could throw is a function of its own.
#include "pmpi/export.hpp"
#include "pmpi/nesting.hpp"
#include "reorder/reorder.hpp"
#include "table/call_names.hpp"
#include "trace/recorder.hpp"

namespace fairlead::intercept {
namespace {

using Clock = std::chrono::steady_clock;

// Declares `original`, the program's own MPI function; found once, at the first call.
#define ORIGINAL(name)         \
  static const auto original = \
      reinterpret_cast<decltype(&PMPI_##name)>(require_symbol("PMPI_" #name))

}  // namespace

#define WRAP_CALL(name, parameters, arguments, meaning) \
  FAIRLEAD_WRAPPER(name, parameters) {                  \
    ORIGINAL(name);                                     \
    if (!is_recording()) return original arguments;     \
    const bool is_outermost = enter_call();             \
    const int code = original arguments;                \
    if (is_outermost) {                                 \
      if (code == MPI_SUCCESS) record::meaning;         \
      leave_call();                                     \
    }                                                   \
    return code;                                        \
  }

#define WRAP_COLLECTIVE_CALL(name, parameters, arguments, communicator, meaning)       \
  FAIRLEAD_WRAPPER(name, parameters) {                                                 \
    ORIGINAL(name);                                                                    \
    if (!is_recording()) return original arguments;                                    \
    const bool is_outermost = enter_call();                                            \
    const auto start = Clock::now();                                                   \
    const int code = original arguments;                                               \
    if (is_outermost) {                                                                \
      if (code == MPI_SUCCESS) {                                                       \
        record_collective(Call::name, communicator, Clock::now() - start,              \
                          [&](const auto& collective) { return collective.meaning; }); \
      }                                                                                \
      leave_call();                                                                    \
    }                                                                                  \
    return code;                                                                       \
  }

#define WRAP_COLLECTIVE_INIT(name, parameters, arguments, communicator, request, meaning)   \
  FAIRLEAD_WRAPPER(name, parameters) {                                                      \
    ORIGINAL(name);                                                                         \
    if (!is_recording()) return original arguments;                                         \
    const bool is_outermost = enter_call();                                                 \
    const int code = original arguments;                                                    \
    if (is_outermost) {                                                                     \
      if (code == MPI_SUCCESS) {                                                            \
        record_collective_init(Call::name, communicator, request,                           \
                               [&](const auto& collective) { return collective.meaning; }); \
      }                                                                                     \
      leave_call();                                                                         \
    }                                                                                       \
    return code;                                                                            \
  }

#define WRAP_RELEASE(name, parameters, arguments, meaning) \
  FAIRLEAD_WRAPPER(name, parameters) {                     \
    ORIGINAL(name);                                        \
    if (!is_recording()) return original arguments;        \
    const auto release = record::meaning;                  \
    const int code = original arguments;                   \
    release.end();                                         \
    return code;                                           \
  }

#define WRAP_TOPOLOGY(name, parameters, arguments, meaning) \
  FAIRLEAD_WRAPPER(name, parameters) {                      \
    ORIGINAL(name);                                         \
    if (!is_reordering()) return original arguments;        \
    const bool is_outermost = enter_call();                 \
    const int code = reorder::meaning arguments;            \
    if (is_outermost) leave_call();                         \
    return code;                                            \
  }

// The detour through a second macro expands the rows' own macros before names are pasted.
#define CALL(...) WRAP_CALL(__VA_ARGS__)
#define COLLECTIVE_CALL(...) WRAP_COLLECTIVE_CALL(__VA_ARGS__)
#define COLLECTIVE_INIT(...) WRAP_COLLECTIVE_INIT(__VA_ARGS__)
#define RELEASE(...) WRAP_RELEASE(__VA_ARGS__)
#define TOPOLOGY(...) WRAP_TOPOLOGY(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

}  // namespace fairlead::intercept
