// SPDX-License-Identifier: Apache-2.0
// One wrapper per row of the table: its handler makes the call, and its observer counts it.
//
// A wrapper may be left by a longjmp, an exception or the end of its thread. So nothing with a
// destructor lives across the call, and everything that could throw is a function of its own.
#include "pmpi/export.hpp"
#include "table/handlers.hpp"
#include "trace/call_time.hpp"
#include "trace/observers.hpp"

namespace fairlead::intercept {

#define WRITE_WRAPPER(name, parameters, arguments, observe)   \
  FAIRLEAD_WRAPPER(name, parameters) {                        \
    [[maybe_unused]] constexpr Call kCall = Call::name;       \
    const auto handler = handlers().name;                     \
    if (!is_recording()) return handler arguments;            \
    const auto make_call = [&] { return handler arguments; }; \
    if constexpr (!may_wait(#name)) return OBSERVE_##observe; \
    const bool is_timed = begin_call_time();                  \
    const int code = OBSERVE_##observe;                       \
    if (is_timed) end_call_time();                            \
    return code;                                              \
  }

// Expansions of the observer's slot; `meaning` is a call that counts.
#define OBSERVE_unobserved make_call()
#define OBSERVE_counted(meaning) observe_counted(make_call, [&] { record::meaning; })
#define OBSERVE_ending(meaning) observe_ending(make_call, [&] { record::meaning; })
#define OBSERVE_released(meaning) observe_released(make_call, record::meaning)
#define OBSERVE_collective(communicator, meaning)    \
  observe_collective(kCall, communicator, make_call, \
                     [&](const auto& collective) { return collective.meaning; })
#define OBSERVE_collective_init(communicator, request, meaning)    \
  observe_collective_init(kCall, communicator, request, make_call, \
                          [&](const auto& collective) { return collective.meaning; })

// The detour through a second macro expands the rows' own macros before names are pasted.
#define CALL(...) WRITE_WRAPPER(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

}  // namespace fairlead::intercept
