// SPDX-License-Identifier: Apache-2.0
// bcast, reduce, gather and scatter as MPICH2 1.4 chooses and sends them, for programs in SMPI.
//
// This is what the paper CMPI compares with (its section 5.1). Which algorithm is taken, and by
// which sizes, are facts of MPICH2's public sources (src/mpi/coll); SMPI's selector named mpich
// takes other ones, such as a binomial tree for every bcast where all hosts have as many ranks.
#pragma once

#include <mpi.h>

#include "tune/calls.hpp"

namespace bench::mpich2 {

/// These four of MPI's own parameters; MPI_IN_PLACE and any root are allowed. Bytes of a message
/// are at most 2 GiB.
int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm);
int gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
           MPI_Datatype in_type, int root, MPI_Comm comm);
int scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm);

/// From now on executors take these as the MPI's own, in groups of hosts and inside a host.
void make_native();

/// They as algorithms of calls; the other operations are SMPI's.
[[nodiscard]] fairlead::tune::Calls calls(MPI_Comm comm);

}  // namespace bench::mpich2
