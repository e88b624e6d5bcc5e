// SPDX-License-Identifier: Apache-2.0
// The families of calls of the MPI for which this is built.
#pragma once

#include <mpi.h>

// Open MPI 5 has these parts of MPI 4.0 although it reports version 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define FAIRLEAD_MPI4_REQUESTS 1
#else
#define FAIRLEAD_MPI4_REQUESTS 0
#endif

// Counts of type MPI_Count, in the functions whose names end with _c.
#if MPI_VERSION >= 4
#define FAIRLEAD_LARGE_COUNTS 1
#else
#define FAIRLEAD_LARGE_COUNTS 0
#endif

// The binary interface of MPI 5 itself (MPI 5.0, chapter 20), which libraries of several MPIs have.
#if defined(MPI_ABI_VERSION) && !defined(MPICH_VERSION) && !defined(OPEN_MPI)
#define FAIRLEAD_STANDARD_ABI 1
#else
#define FAIRLEAD_STANDARD_ABI 0
#endif

// SMPI declares the calls that start processes, but does not have them, and lets what is compared
// be written to.
#if defined(SMPI_H)
#define FAIRLEAD_SPAWNING 0
#define FAIRLEAD_COMPARED void*
#else
#define FAIRLEAD_SPAWNING 1
#define FAIRLEAD_COMPARED const void*
#endif
