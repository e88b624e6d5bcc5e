// SPDX-License-Identifier: Apache-2.0
// One wrapper per row of the table: the call itself first, then what it means.
#include "call_names.hpp"
#include "export.hpp"
#include "recorder.hpp"
#include "reorder.hpp"

namespace fairlead::intercept {
namespace {

using Clock = std::chrono::steady_clock;

// Declares `original`, the program's own MPI function; found once, at the first call.
#define ORIGINAL(name)         \
  static const auto original = \
      reinterpret_cast<decltype(&PMPI_##name)>(require_symbol("PMPI_" #name))

}  // namespace

#define WRAP_CALL(name, parameters, arguments, meaning)               \
  FAIRLEAD_EXPORT(name, parameters) {                                 \
    ORIGINAL(name);                                                   \
    if (!is_recording()) return original arguments;                   \
    const Scope scope;                                                \
    const int code = original arguments;                              \
    if (scope.is_outermost() && code == MPI_SUCCESS) record::meaning; \
    return code;                                                      \
  }

#define WRAP_COLLECTIVE_CALL(name, parameters, arguments, communicator, meaning)     \
  FAIRLEAD_EXPORT(name, parameters) {                                                \
    ORIGINAL(name);                                                                  \
    if (!is_recording()) return original arguments;                                  \
    const Scope scope;                                                               \
    const auto start = Clock::now();                                                 \
    const int code = original arguments;                                             \
    if (scope.is_outermost() && code == MPI_SUCCESS) {                               \
      record_collective(Call::name, communicator, Clock::now() - start,              \
                        [&](const auto& collective) { return collective.meaning; }); \
    }                                                                                \
    return code;                                                                     \
  }

#define WRAP_COLLECTIVE_INIT(name, parameters, arguments, communicator, request, meaning) \
  FAIRLEAD_EXPORT(name, parameters) {                                                     \
    ORIGINAL(name);                                                                       \
    if (!is_recording()) return original arguments;                                       \
    const Scope scope;                                                                    \
    const int code = original arguments;                                                  \
    if (scope.is_outermost() && code == MPI_SUCCESS) {                                    \
      record_collective_init(Call::name, communicator, request,                           \
                             [&](const auto& collective) { return collective.meaning; }); \
    }                                                                                     \
    return code;                                                                          \
  }

#define WRAP_RELEASE(name, parameters, arguments, meaning) \
  FAIRLEAD_EXPORT(name, parameters) {                      \
    ORIGINAL(name);                                        \
    if (is_recording()) record::meaning;                   \
    return original arguments;                             \
  }

#define WRAP_TOPOLOGY(name, parameters, arguments, meaning) \
  FAIRLEAD_EXPORT(name, parameters) {                       \
    ORIGINAL(name);                                         \
    if (!is_reordering()) return original arguments;        \
    const Scope scope;                                      \
    return reorder::meaning arguments;                      \
  }

// The detour through a second macro expands the rows' own macros before names are pasted.
#define CALL(...) WRAP_CALL(__VA_ARGS__)
#define COLLECTIVE_CALL(...) WRAP_COLLECTIVE_CALL(__VA_ARGS__)
#define COLLECTIVE_INIT(...) WRAP_COLLECTIVE_INIT(__VA_ARGS__)
#define RELEASE(...) WRAP_RELEASE(__VA_ARGS__)
#define TOPOLOGY(...) WRAP_TOPOLOGY(__VA_ARGS__)
#define LIFECYCLE(name)
#include "calls.def"

}  // namespace fairlead::intercept
