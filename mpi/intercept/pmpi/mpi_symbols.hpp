// SPDX-License-Identifier: Apache-2.0
// The traced program's own MPI library, reached by name: the tracer is linked with none, so that
// it can be loaded into programs that are not MPI programs.
#pragma once

#include <mpi.h>

namespace fairlead::intercept {

/// Address of a function in the MPI library that the program uses, or null.
[[nodiscard]] void* find_symbol(const char* name) noexcept;

/// The same, for a function that must exist; ends the program with one line when it does not.
[[nodiscard]] void* require_symbol(const char* name) noexcept;

#define FAIRLEAD_MPI_QUERIES(QUERY) \
  QUERY(Allgather)                  \
  QUERY(Bcast)                      \
  QUERY(Cart_create)                \
  QUERY(Cart_shift)                 \
  QUERY(Cartdim_get)                \
  QUERY(Comm_dup)                   \
  QUERY(Comm_free)                  \
  QUERY(Comm_get_errhandler)        \
  QUERY(Comm_get_parent)            \
  QUERY(Comm_group)                 \
  QUERY(Comm_rank)                  \
  QUERY(Comm_remote_group)          \
  QUERY(Comm_remote_size)           \
  QUERY(Comm_set_errhandler)        \
  QUERY(Comm_size)                  \
  QUERY(Comm_split)                 \
  QUERY(Comm_test_inter)            \
  QUERY(Dist_graph_create)          \
  QUERY(Dist_graph_create_adjacent) \
  QUERY(Dist_graph_neighbors)       \
  QUERY(Dist_graph_neighbors_count) \
  QUERY(Gather)                     \
  QUERY(Gatherv)                    \
  QUERY(Get_library_version)        \
  QUERY(Graph_neighbors)            \
  QUERY(Graph_neighbors_count)      \
  QUERY(Group_free)                 \
  QUERY(Group_size)                 \
  QUERY(Group_translate_ranks)      \
  QUERY(Lookup_name)                \
  QUERY(Publish_name)               \
  QUERY(Recv)                       \
  QUERY(Send)                       \
  QUERY(Sendrecv)                   \
  QUERY(Topo_test)                  \
  QUERY(Type_size_x)                \
  QUERY(Unpublish_name)

/// The MPI functions that the tracer itself calls; valid after `bind_mpi`.
struct Mpi {
#define FAIRLEAD_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_MEMBER)
#undef FAIRLEAD_MEMBER
};

namespace detail {
extern Mpi bound_mpi;
}

[[nodiscard]] inline const Mpi& mpi() noexcept {
  return detail::bound_mpi;
}

/// Looks all of them up. False when the program uses another MPI than the tracer was built for.
[[nodiscard]] bool bind_mpi() noexcept;

/// Whether the program came with another MPI than the tracer was built for. One that it loads by
/// itself later is not seen yet.
[[nodiscard]] bool is_linked_with_another_mpi() noexcept;

// Open MPI's predefined handles are addresses of variables in its library, so they too have to be
// looked up by name.
[[nodiscard]] MPI_Comm comm_world() noexcept;
[[nodiscard]] MPI_Comm comm_self() noexcept;
[[nodiscard]] MPI_Comm comm_null() noexcept;
[[nodiscard]] MPI_Errhandler errors_return() noexcept;
[[nodiscard]] MPI_Info info_null() noexcept;
[[nodiscard]] MPI_Datatype byte_type() noexcept;

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY; here it is MPICH that has variables.
[[nodiscard]] int* unweighted() noexcept;
[[nodiscard]] int* weights_empty() noexcept;

}  // namespace fairlead::intercept
