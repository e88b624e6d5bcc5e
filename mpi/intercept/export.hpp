// SPDX-License-Identifier: Apache-2.0
// Opens the definition of a wrapper under each name by which a program may reach the call.
#pragma once

#include "features.hpp"

#define FAIRLEAD_VISIBLE extern "C" __attribute__((visibility("default")))

#if FAIRLEAD_TAKES_PMPI
#define FAIRLEAD_EXPORT(name, parameters)                                           \
  FAIRLEAD_VISIBLE int PMPI_##name parameters __attribute__((alias("MPI_" #name))); \
  FAIRLEAD_VISIBLE int MPI_##name parameters
#else
#define FAIRLEAD_EXPORT(name, parameters) FAIRLEAD_VISIBLE int MPI_##name parameters
#endif
