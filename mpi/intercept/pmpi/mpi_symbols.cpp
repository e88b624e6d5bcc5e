// SPDX-License-Identifier: Apache-2.0
// Finds the functions of the program's MPI library.
#include "pmpi/mpi_symbols.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>

namespace fairlead::intercept {
namespace detail {
constinit Mpi bound_mpi;
}

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
  if (address == nullptr || base_of(address) == base_of(&detail::bound_mpi)) {
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

void* find_symbol(const char* name) noexcept {
  static void* const library = mpi_library();
  return dlsym(library, name);
}

// A program may hold its own copy of a library's variable (a copy relocation), and then that is
// the one in use: so the search begins with the program.
void* find_variable(const char* name) noexcept {
  if (void* const address = dlsym(RTLD_DEFAULT, name)) return address;
  return find_symbol(name);
}

// Which MPI the program uses shows in a variable that only Open MPI has.
bool uses_own_mpi() noexcept {
  const bool is_open_mpi = find_variable("ompi_mpi_comm_world") != nullptr;
#if defined(OPEN_MPI)
  return is_open_mpi;
#else
  return !is_open_mpi;
#endif
}

template <class Function>
void bind_to(Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(find_symbol(name));
}

bool bind() noexcept {
#define FAIRLEAD_BIND(name, ...) bind_to(detail::bound_mpi.name, "PMPI_" #name);
#define CALL(...) FAIRLEAD_BIND(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_BIND(name)
#include "table/calls.def"
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_BIND)
#undef FAIRLEAD_BIND
  return uses_own_mpi();
}

}  // namespace

bool bind_mpi() noexcept {
  static const bool is_own = bind();
  return is_own;
}

void require_bound(const void* function, const char* name) noexcept {
  if (function != nullptr) return;
  std::fprintf(stderr, "fairlead: the MPI library of this program has no %s\n", name);
  std::_Exit(EXIT_FAILURE);
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
