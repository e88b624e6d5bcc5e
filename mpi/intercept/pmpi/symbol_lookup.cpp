// SPDX-License-Identifier: Apache-2.0
#include "pmpi/symbol_lookup.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>

#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

const void* base_of(const void* address) noexcept {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Takes the first library with access to an MPI other than this one.
int search_object(dl_phdr_info* object, std::size_t, void* found) noexcept {
  if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') return 0;
  void* const library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const void* const address = dlsym(library, "PMPI_Init");
  if (address == nullptr || base_of(address) == base_of(&mpi())) {
    dlclose(library);
    return 0;
  }
  *static_cast<void**>(found) = library;
  return 1;
}

// Where the program's MPI is searched: next in the global scope, or else in a library. A program
// that loads MPI by dlopen (as Python does) keeps it out of the global scope.
void* mpi_library() noexcept {
  if (dlsym(RTLD_NEXT, "PMPI_Init") != nullptr) return RTLD_NEXT;
  void* library = RTLD_NEXT;
  dl_iterate_phdr(search_object, static_cast<void*>(&library));
  return library;
}

}  // namespace

void* find_symbol(const char* name) noexcept {
  static void* const library = mpi_library();
  return dlsym(library, name);
}

void* find_variable(const char* name) noexcept {
  if (void* const address = dlsym(RTLD_DEFAULT, name)) return address;
  return find_symbol(name);
}

}  // namespace fairlead::intercept
