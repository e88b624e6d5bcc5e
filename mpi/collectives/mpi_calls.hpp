// SPDX-License-Identifier: Apache-2.0
// MPI as executors use it: by the one table of functions, past wrappers of the calls. In the
// preload library, which is linked with no MPI, it holds those of the program.
#pragma once

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::collectives {

using intercept::byte_type;
using intercept::comm_null;
using intercept::comm_self;
using intercept::errors_return;
using intercept::mpi;
using intercept::op_band;
using intercept::request_null;

}  // namespace fairlead::collectives
