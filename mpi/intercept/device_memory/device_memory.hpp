// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs, which the processor must not touch: only a GPU-aware MPI may be given it. What is
// asked are the runtimes that the process itself has loaded.
#pragma once

#include <mpi.h>

namespace fairlead::intercept {

/// Whether the first byte of a message is in the memory of a device. Managed and pinned memory is
/// the host's.
/// @param buffer  also MPI_BOTTOM, or MPI_IN_PLACE, which is nowhere
/// @param type  a valid one
[[nodiscard]] bool is_on_device(const void* buffer, MPI_Datatype type) noexcept;

/// Whether the process may have memory of a device now; a runtime may be loaded at any time.
[[nodiscard]] bool may_have_device_memory() noexcept;

}  // namespace fairlead::intercept
