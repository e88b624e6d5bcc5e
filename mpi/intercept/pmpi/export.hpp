// SPDX-License-Identifier: Apache-2.0
// Opens the definition of an exported function, and of the wrapper behind it.
#pragma once

#include <mpi.h>

#include <type_traits>

#include "pmpi/nesting.hpp"

#if defined(FAIRLEAD_LINKED)
// The functions that the program calls, which has to come before the library's own of that name:
// what is hidden is bound when the program is linked. PMPI_ is the library's.
#define FAIRLEAD_ENTRY extern "C" __attribute__((visibility("hidden")))
#define FAIRLEAD_SECOND_NAME(name, declaration)
#else
/// A function that is exported by both names of a call: the Fortran bindings of Open MPI, and parts
/// of MPICH's for mpi_f08, call PMPI_*.
#define FAIRLEAD_ENTRY extern "C" __attribute__((visibility("default")))
#define FAIRLEAD_SECOND_NAME(name, declaration) \
  FAIRLEAD_ENTRY declaration __attribute__((alias("MPI_" #name)));
#endif

/// Opens the definition of an exported function; its parameters have to be those of mpi.h. That has
/// declared the names, perhaps as weak ones, so they are symbols only here.
#define FAIRLEAD_EXPORT(name, parameters)                                                  \
  FAIRLEAD_ENTRY int fairlead_entry_##name parameters __asm__("MPI_" #name);               \
  static_assert(std::is_same_v<decltype(&fairlead_entry_##name), decltype(&PMPI_##name)>); \
  FAIRLEAD_SECOND_NAME(name, int fairlead_alias_##name parameters __asm__("PMPI_" #name))  \
  int fairlead_entry_##name parameters

/// What an entry of that name (entries.cpp) leads to; its parameters have to be those of mpi.h.
#define FAIRLEAD_WRAPPER(name, parameters)                                           \
  extern "C" int fairlead_##name parameters;                                         \
  static_assert(std::is_same_v<decltype(&fairlead_##name), decltype(&PMPI_##name)>); \
  extern "C" FAIRLEAD_WRAPPER_SECTION int fairlead_##name parameters
