// SPDX-License-Identifier: Apache-2.0
// What is asked of the runtime of a kind of GPU, and which kinds there are.
#pragma once

#include <dlfcn.h>

#include <array>
#include <memory>

namespace fairlead::intercept {

/// A runtime that the process itself has loaded. Thread-safe.
class DeviceRuntime {
 public:
  DeviceRuntime() = default;
  DeviceRuntime(const DeviceRuntime&) = delete;
  DeviceRuntime& operator=(const DeviceRuntime&) = delete;
  virtual ~DeviceRuntime() = default;

  /// Whether only the device may read the memory: neither managed (unified) memory nor pinned
  /// memory of the host.
  [[nodiscard]] virtual bool is_on_device(const void* address) const noexcept = 0;
  /// Whether the process may have allocated memory of a device: a runtime may be loaded by a
  /// library that only looks for devices.
  [[nodiscard]] virtual bool may_have_allocated() const noexcept = 0;
};

/// A kind of runtime, and how it is found in a process.
struct RuntimeKind {
  const char* library;   ///< how the name of its file begins
  const char* function;  ///< that which describes an address
  /// @param library  a handle for `dlsym`
  std::unique_ptr<DeviceRuntime> (*open)(void* library);
};

[[nodiscard]] std::unique_ptr<DeviceRuntime> open_cuda(void* library);
[[nodiscard]] std::unique_ptr<DeviceRuntime> open_hip(void* library);
[[nodiscard]] std::unique_ptr<DeviceRuntime> open_level_zero(void* library);

inline constexpr std::array kRuntimeKinds{
    RuntimeKind{"libcuda.so", "cuPointerGetAttribute", open_cuda},
    RuntimeKind{"libamdhip64.so", "hipPointerGetAttributes", open_hip},
    RuntimeKind{"libze_loader.so", "zeMemGetAllocProperties", open_level_zero},
};

/// A function of a library, or null.
template <class Function>
void find_function(void* library, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace fairlead::intercept
