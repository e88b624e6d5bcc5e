// SPDX-License-Identifier: Apache-2.0
// Looks through the loaded libraries: preloaded ones come before the MPI.
#include "messages/mpi_itself.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>

namespace fairlead::probe {
namespace {

constexpr const char* kName = "PMPI_Isend";

// Keeps the last library that has the function itself, not through others that it needs.
int search_object(dl_phdr_info* object, std::size_t, void* found) noexcept {
  if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') return 0;
  void* const library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  void* const address = dlsym(library, kName);
  Dl_info owner{};
  const bool is_its_own =
      address != nullptr && dladdr(address, &owner) != 0 &&
      reinterpret_cast<ElfW(Addr)>(owner.dli_fbase) == object->dlpi_addr;  // NOLINT
  if (is_its_own) {
    *static_cast<void**>(found) = library;
  } else {
    dlclose(library);
  }
  return 0;
}

template <class Function>
Function find(void* library, const char* name, Function otherwise) noexcept {
  void* const address = library == nullptr ? nullptr : dlsym(library, name);
  return address == nullptr ? otherwise : reinterpret_cast<Function>(address);  // NOLINT
}

MessageCalls find_all() noexcept {
  void* library = nullptr;
  dl_iterate_phdr(search_object, static_cast<void*>(&library));
  return {.isend = find(library, kName, &PMPI_Isend),
          .irecv = find(library, "PMPI_Irecv", &PMPI_Irecv),
          .testall = find(library, "PMPI_Testall", &PMPI_Testall)};
}

}  // namespace

MessageCalls seen_calls() noexcept {
  return {.isend = &MPI_Isend, .irecv = &MPI_Irecv, .testall = &MPI_Testall};
}

const MessageCalls& unseen_calls() noexcept {
  static const MessageCalls found = find_all();
  return found;
}

}  // namespace fairlead::probe
