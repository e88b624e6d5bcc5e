// SPDX-License-Identifier: Apache-2.0
// Finds the runtimes. A program may load one by dlopen at any time, and so may a library of it. The
// loader counts what it has loaded, so runtimes are searched again only when that number changes.
#include "device_memory/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "device_memory/runtime.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

struct Runtimes {
  /// Objects that the loader had loaded when runtimes were last searched.
  std::atomic<std::uint64_t> num_searched{0};
  /// The runtime of each kind, once it is found; never removed, as its library stays loaded.
  std::array<std::atomic<const DeviceRuntime*>, kRuntimeKinds.size()> found{};
  std::atomic<bool> is_any_found{false};
  std::mutex search_lock;
};

Runtimes& runtimes() {
  static Runtimes* const instance = new Runtimes;
  return *instance;
}

int take_number_of_loads(dl_phdr_info* object, std::size_t, void* number) noexcept {
  *static_cast<std::uint64_t*>(number) = object->dlpi_adds;
  return 1;
}

struct LibrarySearch {
  const char* library;
  std::string path;
};

int take_path(dl_phdr_info* object, std::size_t, void* data) noexcept try {
  auto& wanted = *static_cast<LibrarySearch*>(data);
  if (object->dlpi_name == nullptr) return 0;
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const file = slash != nullptr ? slash + 1 : object->dlpi_name;
  if (std::strncmp(file, wanted.library, std::strlen(wanted.library)) != 0) return 0;
  wanted.path = object->dlpi_name;
  return 1;
} catch (...) {
  return 1;
}

// Null where the process has not loaded it.
std::unique_ptr<DeviceRuntime> find_runtime(const RuntimeKind& kind) {
  if (dlsym(RTLD_DEFAULT, kind.function) != nullptr) return kind.open(RTLD_DEFAULT);
  // What is loaded by dlopen may be out of the global scope.
  LibrarySearch wanted{.library = kind.library, .path = {}};
  dl_iterate_phdr(take_path, static_cast<void*>(&wanted));
  if (wanted.path.empty()) return nullptr;
  // Never closed: so it stays for as long as it is asked.
  void* const library = dlopen(wanted.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr || dlsym(library, kind.function) == nullptr) return nullptr;
  return kind.open(library);
}

void search_runtimes(Runtimes& all, std::uint64_t num_loads) noexcept try {
  const std::lock_guard guard(all.search_lock);
  if (all.num_searched.load(std::memory_order_relaxed) == num_loads) return;
  for (std::size_t kind = 0; kind < kRuntimeKinds.size(); ++kind) {
    if (all.found[kind].load(std::memory_order_relaxed) != nullptr) continue;
    auto runtime = find_runtime(kRuntimeKinds[kind]);
    if (!runtime) continue;
    all.found[kind].store(runtime.release(), std::memory_order_release);
    all.is_any_found.store(true, std::memory_order_release);
  }
  all.num_searched.store(num_loads, std::memory_order_release);
} catch (...) {
  return;  // Out of memory: the next question searches again.
}

const Runtimes& found_runtimes() noexcept {
  Runtimes& all = runtimes();
  std::uint64_t num_loads = 0;
  dl_iterate_phdr(take_number_of_loads, static_cast<void*>(&num_loads));
  if (all.num_searched.load(std::memory_order_acquire) != num_loads)
    search_runtimes(all, num_loads);
  return all;
}

template <class Question>
bool is_any(const Runtimes& all, const Question& question) noexcept {
  if (!all.is_any_found.load(std::memory_order_acquire)) return false;
  for (const auto& each : all.found) {
    const DeviceRuntime* const runtime = each.load(std::memory_order_acquire);
    if (runtime != nullptr && question(*runtime)) return true;
  }
  return false;
}

}  // namespace

bool is_on_device(const void* buffer, MPI_Datatype type) noexcept {
  if (buffer == MPI_IN_PLACE) return false;
  const Runtimes& all = found_runtimes();
  if (!all.is_any_found.load(std::memory_order_acquire)) return false;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (mpi().Type_get_true_extent(type, &lower, &extent) != MPI_SUCCESS) return false;
  // An integer, since the first byte of MPI_BOTTOM is at no place of an array.
  const auto first = reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(lower);
  const void* const address = reinterpret_cast<const void*>(first);
  return is_any(all, [address](const DeviceRuntime& each) { return each.is_on_device(address); });
}

bool may_have_device_memory() noexcept {
  return is_any(found_runtimes(),
                [](const DeviceRuntime& each) { return each.may_have_allocated(); });
}

}  // namespace fairlead::intercept
