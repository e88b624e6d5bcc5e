// SPDX-License-Identifier: Apache-2.0
// HIP, AMD's runtime: HIP documentation, "Unified addressing". Numbers of the kinds of memory
// changed with HIP 6.
#include "device_memory/runtime.hpp"

namespace fairlead::intercept {
namespace {

// hipPointerAttribute_t, and room for members that a later version may add.
struct Attributes {
  int type = 0;
  int device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  int is_managed = 0;
  unsigned allocation_flags = 0;
  void* reserved[16]{};
};

class Hip : public DeviceRuntime {
 public:
  explicit Hip(void* library) {
    find_function(library, "hipPointerGetAttributes", pointer_attributes_);
    find_function(library, "hipPeekAtLastError", last_error_);
    find_function(library, "hipGetLastError", take_last_error_);
    int (*runtime_version)(int* version) = nullptr;
    find_function(library, "hipRuntimeGetVersion", runtime_version);
    int version = kHip6;
    if (runtime_version != nullptr) (void)runtime_version(&version);
    of_device_ = version < kHip6 ? kOfDeviceBeforeHip6 : kOfDevice;
  }

  [[nodiscard]] bool is_on_device(const void* address) const noexcept override {
    const bool was_fine = last_error_ != nullptr && last_error_() == kSuccess;
    Attributes found;
    if (pointer_attributes_(&found, address) != kSuccess) {
      // Ordinary memory is an error, which the program must not find as its own.
      if (was_fine && take_last_error_ != nullptr) (void)take_last_error_();
      return false;
    }
    if (found.is_managed != 0) return false;
    // Before HIP 6 the number of what is pinned host memory now, which has a host's address.
    const bool is_of_old_device =
        found.type == kOfDeviceBeforeHip6 && found.host_pointer == nullptr;
    return found.type == of_device_ || is_of_old_device;
  }

  [[nodiscard]] bool may_have_allocated() const noexcept override { return true; }

 private:
  static constexpr int kSuccess = 0;        // hipSuccess
  static constexpr int kHip6 = 60'000'000;  // hipRuntimeGetVersion of 6.0.0
  static constexpr int kOfDevice = 2;       // hipMemoryTypeDevice
  static constexpr int kOfDeviceBeforeHip6 = 1;

  int (*pointer_attributes_)(Attributes* attributes, const void* address) = nullptr;
  int (*last_error_)() = nullptr;
  int (*take_last_error_)() = nullptr;
  int of_device_ = kOfDevice;
};

}  // namespace

std::unique_ptr<DeviceRuntime> open_hip(void* library) {
  return std::make_unique<Hip>(library);
}

}  // namespace fairlead::intercept
