// SPDX-License-Identifier: Apache-2.0
// Loads the library at run time: a host without it stays usable, and its inside unknown. The few
// functions have the same form in all versions with this name of the library (hwloc 2.0 and later,
// hwloc.h and hwloc/export.h), in which a topology is a pointer.
#include "inside/hwloc_library.hpp"

#include <dlfcn.h>

#include <memory>
#include <utility>

namespace fairlead::probe {
namespace {

constexpr const char* kLibrary = "libhwloc.so.15";

/// A library that is loaded while this exists.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

/// The functions that are used.
struct Calls {
  int (*init)(void** topology);
  int (*load)(void* topology);
  int (*is_thissystem)(void* topology);
  int (*export_xmlbuffer)(void* topology, char** text, int* length, unsigned long flags);
  void (*free_xmlbuffer)(void* topology, char* text);
  void (*destroy)(void* topology);

  explicit Calls(const Library& library)
      : init(library.find<int(void**)>("hwloc_topology_init")),
        load(library.find<int(void*)>("hwloc_topology_load")),
        is_thissystem(library.find<int(void*)>("hwloc_topology_is_thissystem")),
        export_xmlbuffer(library.find<int(void*, char**, int*, unsigned long)>(
            "hwloc_topology_export_xmlbuffer")),
        free_xmlbuffer(library.find<void(void*, char*)>("hwloc_free_xmlbuffer")),
        destroy(library.find<void(void*)>("hwloc_topology_destroy")) {}

  [[nodiscard]] bool are_found() const {
    return init != nullptr && load != nullptr && is_thissystem != nullptr &&
           export_xmlbuffer != nullptr && free_xmlbuffer != nullptr && destroy != nullptr;
  }
};

HostTopology without_topology(std::string problem) {
  HostTopology none;
  none.problem = std::move(problem);
  return none;
}

}  // namespace

HostTopology read_host_topology() {
  const Library library(kLibrary);
  if (!library.is_loaded()) return without_topology(std::string(kLibrary) + " is not installed");
  const Calls calls(library);
  if (!calls.are_found()) return without_topology(std::string(kLibrary) + " lacks a function");
  void* made = nullptr;
  if (calls.init(&made) != 0) return without_topology("hwloc_topology_init failed");
  const std::unique_ptr<void, void (*)(void*)> topology(made, calls.destroy);
  if (calls.load(topology.get()) != 0) return without_topology("hwloc_topology_load failed");
  char* text = nullptr;
  int length = 0;
  if (calls.export_xmlbuffer(topology.get(), &text, &length, 0) != 0) {
    return without_topology("hwloc_topology_export_xmlbuffer failed");
  }
  HostTopology found;
  found.xml = text;
  found.is_own = calls.is_thissystem(topology.get()) == 1;
  calls.free_xmlbuffer(topology.get(), text);
  return found;
}

}  // namespace fairlead::probe
