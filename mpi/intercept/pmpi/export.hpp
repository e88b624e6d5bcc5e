// SPDX-License-Identifier: Apache-2.0
// Opens the definition of an exported function, and of a wrapper that stands behind one.
#pragma once

#include <mpi.h>

#include <type_traits>

#include "pmpi/nesting.hpp"

#define FAIRLEAD_VISIBLE extern "C" __attribute__((visibility("default")))

/// Both names of a call: the Fortran bindings of Open MPI, and parts of MPICH's for mpi_f08, call
/// PMPI_*.
#define FAIRLEAD_EXPORT(name, parameters)                                           \
  FAIRLEAD_VISIBLE int PMPI_##name parameters __attribute__((alias("MPI_" #name))); \
  FAIRLEAD_VISIBLE int MPI_##name parameters

/// What an entry of that name (entries.cpp) leads to; its parameters have to be those of mpi.h.
#define FAIRLEAD_WRAPPER(name, parameters)                                           \
  extern "C" int fairlead_##name parameters;                                         \
  static_assert(std::is_same_v<decltype(&fairlead_##name), decltype(&PMPI_##name)>); \
  extern "C" FAIRLEAD_WRAPPER_SECTION int fairlead_##name parameters
