// SPDX-License-Identifier: Apache-2.0
// Finds the functions of the MPI library that stands behind the tracer.
#include "pmpi/mpi_symbols.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>

namespace fairlead::intercept {
namespace detail {
Mpi bound_mpi;
}

namespace {

struct Search {
  const char* symbol;
  const void* own_base;
  void* found;
};

const void* base_of(const void* address) noexcept {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

int search_object(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  if (object->dlpi_name == nullptr || *object->dlpi_name == '\0') return 0;
  void* const handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  void* const address = dlsym(handle, search.symbol);
  dlclose(handle);
  if (address == nullptr || base_of(address) == search.own_base) return 0;
  search.found = address;
  return 1;
}

// A program may hold its own copy of a library's variable (a copy relocation), and then that is
// the one in use: so the search begins with the program.
void* find_variable(const char* name) noexcept {
  if (void* const address = dlsym(RTLD_DEFAULT, name)) return address;
  return find_symbol(name);
}

// Which MPI the program uses shows in a variable that only Open MPI has.
bool uses_open_mpi() noexcept {
  return find_variable("ompi_mpi_comm_world") != nullptr;
}

bool uses_another_mpi() noexcept {
#if defined(OPEN_MPI)
  return !uses_open_mpi();
#else
  return uses_open_mpi();
#endif
}

template <class Function>
void bind_to(Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(require_symbol(name));
}

}  // namespace

void* find_symbol(const char* name) noexcept {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  // A program that loads MPI by dlopen (as Python does) keeps it out of the global scope.
  Search search{name, base_of(reinterpret_cast<const void*>(&find_symbol)), nullptr};
  dl_iterate_phdr(search_object, &search);
  return search.found;
}

void* require_symbol(const char* name) noexcept {
  void* const address = find_symbol(name);
  if (address == nullptr) {
    std::fprintf(stderr, "fairlead: the MPI library of this program has no %s\n", name);
    std::_Exit(EXIT_FAILURE);
  }
  return address;
}

bool bind_mpi() noexcept {
  if (uses_another_mpi()) return false;
#define FAIRLEAD_BIND(name) bind_to(detail::bound_mpi.name, "PMPI_" #name);
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_BIND)
#undef FAIRLEAD_BIND
  return true;
}

// Asked in every process that loads the library, so the usual answer, no MPI at all, comes first.
bool is_linked_with_another_mpi() noexcept {
  return dlsym(RTLD_NEXT, "PMPI_Init") != nullptr && uses_another_mpi();
}

#if defined(OPEN_MPI)
MPI_Comm comm_world() noexcept {
  static const auto handle = static_cast<MPI_Comm>(find_variable("ompi_mpi_comm_world"));
  return handle;
}
MPI_Comm comm_self() noexcept {
  static const auto handle = static_cast<MPI_Comm>(find_variable("ompi_mpi_comm_self"));
  return handle;
}
MPI_Comm comm_null() noexcept {
  static const auto handle = static_cast<MPI_Comm>(find_variable("ompi_mpi_comm_null"));
  return handle;
}
MPI_Errhandler errors_return() noexcept {
  static const auto handle = static_cast<MPI_Errhandler>(find_variable("ompi_mpi_errors_return"));
  return handle;
}
MPI_Info info_null() noexcept {
  static const auto handle = static_cast<MPI_Info>(find_variable("ompi_mpi_info_null"));
  return handle;
}
MPI_Datatype byte_type() noexcept {
  static const auto handle = static_cast<MPI_Datatype>(find_variable("ompi_mpi_byte"));
  return handle;
}
int* unweighted() noexcept {
  return MPI_UNWEIGHTED;
}
int* weights_empty() noexcept {
  return MPI_WEIGHTS_EMPTY;
}
#else
MPI_Comm comm_world() noexcept {
  return MPI_COMM_WORLD;
}
MPI_Comm comm_self() noexcept {
  return MPI_COMM_SELF;
}
MPI_Comm comm_null() noexcept {
  return MPI_COMM_NULL;
}
MPI_Errhandler errors_return() noexcept {
  return MPI_ERRORS_RETURN;
}
MPI_Info info_null() noexcept {
  return MPI_INFO_NULL;
}
MPI_Datatype byte_type() noexcept {
  return MPI_BYTE;
}
int* unweighted() noexcept {
  static const auto variable = static_cast<int* const*>(find_variable("MPI_UNWEIGHTED"));
  return *variable;
}
int* weights_empty() noexcept {
  static const auto variable = static_cast<int* const*>(find_variable("MPI_WEIGHTS_EMPTY"));
  return *variable;
}
#endif

}  // namespace fairlead::intercept
