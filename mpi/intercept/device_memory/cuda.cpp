// SPDX-License-Identifier: Apache-2.0
// CUDA, by its driver: the CUDA Driver API, section "Unified Addressing". Constants are those of
// cuda.h, which have not changed since CUDA 4.
#include <cstdint>

#include "device_memory/runtime.hpp"

namespace fairlead::intercept {
namespace {

class Cuda : public DeviceRuntime {
 public:
  explicit Cuda(void* library) {
    find_function(library, "cuPointerGetAttribute", pointer_attribute_);
    find_function(library, "cuCtxGetCurrent", current_context_);
    find_function(library, "cuDeviceGetCount", device_count_);
    find_function(library, "cuDevicePrimaryCtxGetState", primary_context_);
  }

  [[nodiscard]] bool is_on_device(const void* address) const noexcept override {
    unsigned type = 0;
    if (ask(&type, kMemoryType, address) != kSuccess || type != kOfDevice) return false;
    // Managed memory is reported as the device's.
    unsigned is_managed = 0;
    return ask(&is_managed, kIsManaged, address) != kSuccess || is_managed == 0;
  }

  [[nodiscard]] bool may_have_allocated() const noexcept override {
    unsigned type = 0;
    const int code = ask(&type, kMemoryType, &type);
    if (code == kNotInitialized || code == kDeinitialized || code == kStubLibrary) return false;
    if (!current_context_ || !device_count_ || !primary_context_) return true;
    return has_context();
  }

 private:
  static constexpr int kSuccess = 0;         // CUDA_SUCCESS
  static constexpr int kNotInitialized = 3;  // CUDA_ERROR_NOT_INITIALIZED
  static constexpr int kDeinitialized = 4;   // CUDA_ERROR_DEINITIALIZED
  static constexpr int kStubLibrary = 34;    // CUDA_ERROR_STUB_LIBRARY
  static constexpr int kMemoryType = 2;      // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  static constexpr int kIsManaged = 8;       // CU_POINTER_ATTRIBUTE_IS_MANAGED
  static constexpr unsigned kOfDevice = 2;   // CU_MEMORYTYPE_DEVICE

  // Memory belongs to a context. MPIs look for devices, and make none.
  [[nodiscard]] bool has_context() const noexcept {
    void* context = nullptr;
    if (current_context_(&context) == kSuccess && context != nullptr) return true;
    int num_devices = 0;
    if (device_count_(&num_devices) != kSuccess) return true;
    for (int device = 0; device < num_devices; ++device) {
      unsigned flags = 0;
      int is_active = 0;
      if (primary_context_(device, &flags, &is_active) != kSuccess || is_active != 0) return true;
    }
    return false;
  }

  int ask(unsigned* value, int attribute, const void* address) const noexcept {
    return pointer_attribute_(value, attribute, reinterpret_cast<std::uintptr_t>(address));
  }

  int (*pointer_attribute_)(void* value, int attribute, std::uintptr_t address) = nullptr;
  int (*current_context_)(void** context) = nullptr;
  int (*device_count_)(int* count) = nullptr;
  int (*primary_context_)(int device, unsigned* flags, int* is_active) = nullptr;
};

}  // namespace

std::unique_ptr<DeviceRuntime> open_cuda(void* library) {
  return std::make_unique<Cuda>(library);
}

}  // namespace fairlead::intercept
