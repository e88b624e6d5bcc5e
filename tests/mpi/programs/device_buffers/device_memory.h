// SPDX-License-Identifier: Apache-2.0
// Memory of an invented GPU: pages that the processor must not touch at the address that the
// program has. A GPU-aware MPI reaches them by another one, as hardware does (gpu_aware_mpi.c).
#pragma once

#include <stddef.h>

enum memory_kind { ordinary, device, managed, pinned, num_memory_kinds };

// Ordinary memory is the heap's; a runtime knows about the rest.
void* device_allocate(enum memory_kind kind, size_t bytes);
// Ordinary for what was not allocated here.
enum memory_kind device_kind(const void* address);
// Where the same bytes can be read and written.
void* device_alias(const void* address);
// Buffers that are or were in the memory of the GPU.
int num_device_allocations(void);
// Calls that the MPI was given with an address in a GPU's memory.
int num_device_collectives(void);
int num_device_messages(void);
