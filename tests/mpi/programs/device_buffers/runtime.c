// SPDX-License-Identifier: Apache-2.0
// The runtime of an invented GPU, by the functions of CUDA, HIP or Level Zero. Like these it has an
// error for an address that it does not know.
#include <stddef.h>
#include <stdint.h>

#include "device_memory.h"

#if defined(AS_CUDA)

// As the driver counts them: an allocation makes the primary context of the device.
static int has_context(void) {
  return num_device_allocations() > 0;
}

int cuCtxGetCurrent(void** context) {
  // Another thread may have made it current there.
  *context = NULL;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  if (device < 0 || device > 1) return 101;
  *flags = 0;
  *is_active = device == 1 && has_context();
  return 0;
}

int cuPointerGetAttribute(void* value, int attribute, uintptr_t address) {
  const enum memory_kind kind = device_kind((const void*)address);
  if (kind == ordinary) return 1;
  if (attribute == 2) *(unsigned*)value = kind == pinned ? 1 : 2;
  if (attribute == 8) *(unsigned*)value = kind == managed;
  return attribute == 2 || attribute == 8 ? 0 : 1;
}

#elif defined(AS_HIP)

struct attributes {
  int type, device;
  void *device_pointer, *host_pointer;
  int is_managed;
  unsigned flags;
};

static int last_error;

int hipPointerGetAttributes(struct attributes* found, const void* address) {
  const enum memory_kind kind = device_kind(address);
  if (kind == ordinary) return last_error = 1;
  void* const own = (void*)address;
  *found = (struct attributes){kind == pinned ? 1 : 2, 0, own, kind == device ? NULL : own,
                               kind == managed,        0};
  return 0;
}

int hipPeekAtLastError(void) {
  return last_error;
}

int hipGetLastError(void) {
  const int last = last_error;
  last_error = 0;
  return last;
}

#elif defined(AS_LEVEL_ZERO)

struct properties {
  int structure;
  void* next;
  int type;
  uint64_t id, page_bytes;
};

static int is_initialised;
static char driver;
static char context;

int zeInit(unsigned flags) {
  (void)flags;
  is_initialised = 1;
  return 0;
}

int zeDriverGet(uint32_t* count, void** drivers) {
  if (!is_initialised) return 0x78000001;
  *count = 1;
  if (drivers != NULL) *drivers = &driver;
  return 0;
}

int zeContextCreate(void* of, const void* description, void** made) {
  if (of != &driver || *(const int*)description != 0xd) return 0x78000004;
  *made = &context;
  return 0;
}

int zeMemGetAllocProperties(void* of, const void* address, struct properties* found, void** on) {
  if (of != &context || found->structure != 0x17) return 0x78000004;
  const int types[] = {[ordinary] = 0, [device] = 2, [managed] = 3, [pinned] = 1};
  found->type = types[device_kind(address)];
  *on = found->type == 2 ? &driver : NULL;
  return 0;
}

#endif
