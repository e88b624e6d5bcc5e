// SPDX-License-Identifier: Apache-2.0
// A handle is a pointer in Open MPI and an int in MPICH. A wrapper that was built for one of them
// would cut the other's handles, so a program calls these functions: a jump that passes handles on
// as words, to the wrapper, or directly to the MPI if nothing is switched on or the program uses
// the other MPI.
#include "entries.hpp"

#include <atomic>
#include <cstdint>
#include <string_view>

#include "pmpi/export.hpp"
#include "pmpi/mpi_symbols.hpp"
#include "table/handlers.hpp"
#include "trace/recorder.hpp"

// In the calling conventions of Linux an integer or a pointer takes one register or one word of the
// stack, whatever its width; so this reads the parameters of either MPI.
#define MPI_Comm std::uintptr_t
#define MPI_Datatype std::uintptr_t
#define MPI_Info std::uintptr_t
#define MPI_Op std::uintptr_t
#define MPI_Request std::uintptr_t
#define MPI_Win std::uintptr_t

namespace fairlead::intercept {
namespace {

template <class Function>
using Target = std::atomic<Function*>;

// A call that the MPI does not have keeps its first target, which reports this.
template <class Function, class Original>
void bypass(Target<Function>& target, Original original) noexcept {
  if (original == nullptr) return;
  void* const address = reinterpret_cast<void*>(original);
  target.store(reinterpret_cast<Function*>(address), std::memory_order_relaxed);
}

constexpr bool is_observed(std::string_view observe) {
  return observe != "unobserved";
}

}  // namespace

// The first call finds the MPI in a program that has not called MPI_Init; with sessions it never
// does.
#define WRITE_ENTRY(name, parameters, arguments)                                \
  extern "C" int fairlead_wrapper_##name parameters __asm__("fairlead_" #name); \
  namespace {                                                                   \
  int first_##name parameters;                                                  \
  constinit Target<int parameters> target_of_##name{&first_##name};             \
  int first_##name parameters {                                                 \
    bind_mpi();                                                                 \
    require_bound(reinterpret_cast<const void*>(mpi().name), "PMPI_" #name);    \
    bypass_wrappers();                                                          \
    return target_of_##name.load(std::memory_order_relaxed) arguments;          \
  }                                                                             \
  }                                                                             \
  FAIRLEAD_ENTRY int fairlead_entry_##name parameters __asm__("MPI_" #name);    \
  int fairlead_entry_##name parameters {                                        \
    return target_of_##name.load(std::memory_order_relaxed) arguments;          \
  }                                                                             \
  FAIRLEAD_SECOND_NAME(name, int fairlead_alias_##name parameters __asm__("PMPI_" #name))

#define ENTRY(name, parameters, arguments, ...) WRITE_ENTRY(name, parameters, arguments)
#define CALL(...) ENTRY(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

void bypass_wrappers() noexcept {
#define BYPASS(name, ...) bypass(target_of_##name, mpi().name);
#define CALL(...) BYPASS(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
}

void enter_wrappers() noexcept {
  const bool is_traced = is_recording();
#define ENTER(name, parameters, arguments, observe)                              \
  if ((is_traced && is_observed(#observe)) || handlers().name != mpi().name) {   \
    target_of_##name.store(&fairlead_wrapper_##name, std::memory_order_relaxed); \
  } else {                                                                       \
    bypass(target_of_##name, mpi().name);                                        \
  }
#define CALL(...) ENTER(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
}

}  // namespace fairlead::intercept
