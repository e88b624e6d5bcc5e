// SPDX-License-Identifier: Apache-2.0
// The functions and handles of the program's MPI library: those that the program is linked with,
// or, in the preload library, those found by name.
#include "pmpi/mpi_symbols.hpp"

#include <cstdio>
#include <cstdlib>

#if !defined(FAIRLEAD_LINKED)
#include "pmpi/symbol_lookup.hpp"
#endif

namespace fairlead::intercept {
namespace {

#if defined(FAIRLEAD_LINKED)

// Constant, so that programs that are linked with executors only need not bind it.
constexpr Mpi linked_mpi() noexcept {
  Mpi linked;
#define FAIRLEAD_BIND(name, ...) linked.name = &PMPI_##name;
#define CALL(...) FAIRLEAD_BIND(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_BIND(name)
#include "table/calls.def"
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_BIND)
  FAIRLEAD_RELAY_QUERIES(FAIRLEAD_BIND)
  return linked;
}

}  // namespace

constinit Mpi detail::bound_mpi = linked_mpi();

bool bind_mpi() noexcept {
  return true;
}

#else

template <class Function>
void bind_to(Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(find_symbol(name));
}

#define FAIRLEAD_BIND(name, ...) bind_to(detail::bound_mpi.name, "PMPI_" #name);

// Which interface the program's MPI has shows in its variables: the handles of Open MPI, and what
// is an address in MPICH. MPI 5's own interface has constants for both.
bool uses_own_mpi() noexcept {
  const bool is_open_mpi = find_variable("ompi_mpi_comm_world") != nullptr;
#if defined(OPEN_MPI)
  return is_open_mpi;
#else
  const bool is_mpich = find_variable("MPI_UNWEIGHTED") != nullptr;
  return !is_open_mpi && is_mpich == !FAIRLEAD_STANDARD_ABI;
#endif
}

bool bind() noexcept {
#define CALL(...) FAIRLEAD_BIND(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_BIND(name)
#include "table/calls.def"
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_BIND)
  FAIRLEAD_RELAY_QUERIES(FAIRLEAD_BIND)
  return uses_own_mpi();
}

}  // namespace

constinit Mpi detail::bound_mpi;

bool bind_mpi() noexcept {
  static const bool is_own = bind();
  return is_own;
}

bool is_mpi_bound() noexcept {
  return mpi().Init != nullptr;
}

#endif

void require_bound(const void* function, const char* name) noexcept {
  if (function != nullptr) return;
  std::fprintf(stderr, "fairlead: the MPI library of this program has no %s\n", name);
  std::_Exit(EXIT_FAILURE);
}

#if defined(FAIRLEAD_LINKED) || !defined(OPEN_MPI)
#define FAIRLEAD_HANDLE(Type, function, handle, variable) \
  Type function() noexcept {                              \
    return handle;                                        \
  }
#else
#define FAIRLEAD_HANDLE(Type, function, handle, variable)                    \
  Type function() noexcept {                                                 \
    static const auto address = static_cast<Type>(find_variable(#variable)); \
    return address;                                                          \
  }
#endif
FAIRLEAD_MPI_HANDLES(FAIRLEAD_HANDLE)
FAIRLEAD_RELAY_HANDLES(FAIRLEAD_HANDLE)

#if defined(FAIRLEAD_LINKED) || defined(OPEN_MPI) || FAIRLEAD_STANDARD_ABI
int* unweighted() noexcept {
  return MPI_UNWEIGHTED;
}
int* weights_empty() noexcept {
  return MPI_WEIGHTS_EMPTY;
}
#else
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
