// SPDX-License-Identifier: Apache-2.0
// Opens the definition of a wrapper under both names of the call: the Fortran bindings of Open MPI,
// and parts of MPICH's for mpi_f08, call PMPI_*.
#pragma once

#include <mpi.h>

#define FAIRLEAD_VISIBLE extern "C" __attribute__((visibility("default")))

#define FAIRLEAD_EXPORT(name, parameters)                                           \
  FAIRLEAD_VISIBLE int PMPI_##name parameters __attribute__((alias("MPI_" #name))); \
  FAIRLEAD_VISIBLE int MPI_##name parameters
