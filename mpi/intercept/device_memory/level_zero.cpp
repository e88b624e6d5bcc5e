// SPDX-License-Identifier: Apache-2.0
// Level Zero, Intel's runtime: oneAPI Level Zero Specification 1.0, zeMemGetAllocProperties. A
// driver knows its memory by any of its contexts, so one of our own is made for each driver.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "device_memory/runtime.hpp"

namespace fairlead::intercept {
namespace {

// ze_context_desc_t
struct ContextDescription {
  int structure = 0xd;  // ZE_STRUCTURE_TYPE_CONTEXT_DESC
  const void* next = nullptr;
  std::uint32_t flags = 0;
};

// ze_memory_allocation_properties_t
struct Properties {
  int structure = 0x17;  // ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES
  void* next = nullptr;
  int type = 0;
  std::uint64_t id = 0;
  std::uint64_t page_bytes = 0;
};

class LevelZero : public DeviceRuntime {
 public:
  explicit LevelZero(void* library) {
    find_function(library, "zeMemGetAllocProperties", allocation_properties_);
    find_function(library, "zeDriverGet", drivers_);
    find_function(library, "zeContextCreate", make_context_);
  }

  [[nodiscard]] bool is_on_device(const void* address) const noexcept override {
    for (void* const context : contexts()) {
      Properties found;
      void* device = nullptr;
      const int code = allocation_properties_(context, address, &found, &device);
      if (code == kSuccess && found.type == kOfDevice) return true;
    }
    return false;
  }

  [[nodiscard]] bool may_have_allocated() const noexcept override { return !contexts().empty(); }

 private:
  static constexpr int kSuccess = 0;   // ZE_RESULT_SUCCESS
  static constexpr int kOfDevice = 2;  // ZE_MEMORY_TYPE_DEVICE

  // None before the program has initialised the runtime: until then it names no driver.
  std::span<void* const> contexts() const noexcept {
    if (!has_contexts_.load(std::memory_order_acquire)) {
      const std::lock_guard guard(lock_);
      if (contexts_.empty()) contexts_ = made_contexts();
      if (contexts_.empty()) return {};
      has_contexts_.store(true, std::memory_order_release);
    }
    return contexts_;
  }

  std::vector<void*> made_contexts() const noexcept try {
    if (drivers_ == nullptr || make_context_ == nullptr) return {nullptr};
    std::uint32_t count = 0;
    if (drivers_(&count, nullptr) != kSuccess) return {};
    std::vector<void*> drivers(count);
    if (drivers_(&count, drivers.data()) != kSuccess) return {};
    std::vector<void*> made;
    for (void* const driver : drivers) {
      const ContextDescription description;
      void* context = nullptr;
      if (make_context_(driver, &description, &context) == kSuccess) made.push_back(context);
    }
    return made;
  } catch (...) {
    return {};  // Out of memory: the next question tries again.
  }

  int (*allocation_properties_)(void* context, const void* address, Properties* properties,
                                void** device) = nullptr;
  int (*drivers_)(std::uint32_t* count, void** drivers) = nullptr;
  int (*make_context_)(void* driver, const ContextDescription* description,
                       void** context) = nullptr;
  mutable std::mutex lock_;
  /// Under the lock until they are there, then constant.
  mutable std::vector<void*> contexts_;
  mutable std::atomic<bool> has_contexts_{false};
};

}  // namespace

std::unique_ptr<DeviceRuntime> open_level_zero(void* library) {
  return std::make_unique<LevelZero>(library);
}

}  // namespace fairlead::intercept
