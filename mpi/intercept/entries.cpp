// SPDX-License-Identifier: Apache-2.0
// A handle is a pointer in Open MPI and an int in MPICH. A wrapper that was built for one of them
// would cut the other's handles, so what a program calls is this: a jump that passes handles on as
// words, to the wrapper or, in a program of the other MPI, past it.
#include "entries.hpp"

#include <atomic>
#include <cstdint>

#include "pmpi/mpi_symbols.hpp"
#include "table/features.hpp"

#define FAIRLEAD_VISIBLE extern "C" __attribute__((visibility("default")))

// In the calling conventions of Linux an integer or a pointer takes one register or one word of the
// stack, whatever its width; so this reads the parameters of either MPI.
#define MPI_Comm std::uintptr_t
#define MPI_Datatype std::uintptr_t
#define MPI_Info std::uintptr_t
#define MPI_Op std::uintptr_t
#define MPI_Request std::uintptr_t

namespace fairlead::intercept {
namespace {

template <class Function>
using Target = std::atomic<Function*>;

template <class Function>
void bypass(Target<Function>& target, const char* name) noexcept {
  if (void* const original = find_symbol(name)) {
    target.store(reinterpret_cast<Function*>(original), std::memory_order_relaxed);
  }
}

}  // namespace

// mpi.h has declared the exported names with its own handles, so here they are symbols only.
#define WRITE_ENTRY(name, parameters, arguments)                                \
  extern "C" int fairlead_wrapper_##name parameters __asm__("fairlead_" #name); \
  namespace {                                                                   \
  constinit Target<int parameters> target_of_##name{&fairlead_wrapper_##name};  \
  }                                                                             \
  FAIRLEAD_VISIBLE int fairlead_entry_##name parameters __asm__("MPI_" #name);  \
  int fairlead_entry_##name parameters {                                        \
    return target_of_##name.load(std::memory_order_relaxed) arguments;          \
  }                                                                             \
  FAIRLEAD_VISIBLE int fairlead_alias_##name parameters __asm__("PMPI_" #name)  \
      __attribute__((alias("MPI_" #name)));

#define ENTRY(name, parameters, arguments, ...) WRITE_ENTRY(name, parameters, arguments)
#define CALL(...) ENTRY(__VA_ARGS__)
#define COLLECTIVE_CALL(...) ENTRY(__VA_ARGS__)
#define COLLECTIVE_INIT(...) ENTRY(__VA_ARGS__)
#define RELEASE(...) ENTRY(__VA_ARGS__)
#define TOPOLOGY(...) ENTRY(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"

void bypass_wrappers() noexcept {
#define BYPASS(name, ...) bypass(target_of_##name, "PMPI_" #name);
#define CALL(...) BYPASS(__VA_ARGS__)
#define COLLECTIVE_CALL(...) BYPASS(__VA_ARGS__)
#define COLLECTIVE_INIT(...) BYPASS(__VA_ARGS__)
#define RELEASE(...) BYPASS(__VA_ARGS__)
#define TOPOLOGY(...) BYPASS(__VA_ARGS__)
#define LIFECYCLE(name)
#include "table/calls.def"
}

namespace {

// A program that is linked with the other MPI may use sessions only, and never come to MPI_Init.
__attribute__((constructor)) void look_for_the_other_mpi() noexcept {
  if (is_linked_with_another_mpi()) bypass_wrappers();
}

}  // namespace
}  // namespace fairlead::intercept
