// SPDX-License-Identifier: Apache-2.0
// The program's own MPI library, past all wrappers. The preload library reaches it by name: it is
// linked with none, so that it can be loaded into programs that are not MPI programs.
#pragma once

#include <mpi.h>

#include "table/features.hpp"

namespace fairlead::intercept {

#define FAIRLEAD_MPI_QUERIES(QUERY) \
  QUERY(Cart_shift)                 \
  QUERY(Cartdim_get)                \
  QUERY(Comm_call_errhandler)       \
  QUERY(Comm_create_keyval)         \
  QUERY(Comm_delete_attr)           \
  QUERY(Comm_dup)                   \
  QUERY(Comm_get_attr)              \
  QUERY(Comm_get_errhandler)        \
  QUERY(Comm_get_parent)            \
  QUERY(Comm_group)                 \
  QUERY(Comm_rank)                  \
  QUERY(Comm_remote_group)          \
  QUERY(Comm_remote_size)           \
  QUERY(Comm_set_attr)              \
  QUERY(Comm_set_errhandler)        \
  QUERY(Comm_size)                  \
  QUERY(Comm_split)                 \
  QUERY(Comm_test_inter)            \
  QUERY(Dist_graph_neighbors)       \
  QUERY(Dist_graph_neighbors_count) \
  QUERY(Errhandler_free)            \
  QUERY(Get_library_version)        \
  QUERY(Get_processor_name)         \
  QUERY(Graph_neighbors)            \
  QUERY(Graph_neighbors_count)      \
  QUERY(Group_free)                 \
  QUERY(Group_size)                 \
  QUERY(Group_translate_ranks)      \
  QUERY(Lookup_name)                \
  QUERY(Op_commutative)             \
  QUERY(Pack)                       \
  QUERY(Publish_name)               \
  QUERY(Reduce_local)               \
  QUERY(Topo_test)                  \
  QUERY(Type_commit)                \
  QUERY(Type_create_hindexed)       \
  QUERY(Type_free)                  \
  QUERY(Type_get_contents)          \
  QUERY(Type_get_envelope)          \
  QUERY(Type_get_extent)            \
  QUERY(Type_get_true_extent)       \
  QUERY(Type_size)                  \
  QUERY(Type_size_x)                \
  QUERY(Unpack)                     \
  QUERY(Unpublish_name)             \
  QUERY(Win_get_group)              \
  QUERY(Wtime)

// What relays need, which are not for programs that SMPI simulates.
#if defined(SMPI_H)
#define FAIRLEAD_RELAY_QUERIES(QUERY)
#define FAIRLEAD_RELAY_HANDLES(HANDLE)
#else
#define FAIRLEAD_RELAY_HANDLES(HANDLE) \
  HANDLE(MPI_Message, message_null, MPI_MESSAGE_NULL, ompi_message_null)
#define FAIRLEAD_RELAY_QUERIES(QUERY) \
  QUERY(Get_elements_x)               \
  QUERY(Query_thread)                 \
  QUERY(Status_set_cancelled)         \
  QUERY(Status_set_elements_x)        \
  QUERY(Test_cancelled)               \
  QUERY(Type_dup)
#endif

/// A function for each row of the table.
struct OriginalCalls {
#define FAIRLEAD_MEMBER(name, ...) decltype(&PMPI_##name) name = nullptr;
#define CALL(...) FAIRLEAD_MEMBER(__VA_ARGS__)
#define LIFECYCLE(name) FAIRLEAD_MEMBER(name)
#include "table/calls.def"
};

/// The program's own MPI: the functions of the table, and others that Fairlead calls. In the
/// preload library all are null before `bind_mpi`.
struct Mpi : OriginalCalls {
  FAIRLEAD_MPI_QUERIES(FAIRLEAD_MEMBER)
  FAIRLEAD_RELAY_QUERIES(FAIRLEAD_MEMBER)
#undef FAIRLEAD_MEMBER
};

namespace detail {
extern constinit Mpi bound_mpi;
}

[[nodiscard]] inline const Mpi& mpi() noexcept {
  return detail::bound_mpi;
}

/// Looks all of them up, once. False when the program uses another MPI than this was built for;
/// then they are that MPI's functions, whose handles differ, so calls can only be passed on to
/// them.
bool bind_mpi() noexcept;

/// Whether the program has called a function of the table.
[[nodiscard]] bool is_mpi_bound() noexcept;

/// Ends the program with one line if its MPI has no function of that name.
void require_bound(const void* function, const char* name) noexcept;

#define FAIRLEAD_MPI_HANDLES(HANDLE)                                               \
  HANDLE(MPI_Comm, comm_world, MPI_COMM_WORLD, ompi_mpi_comm_world)                \
  HANDLE(MPI_Comm, comm_self, MPI_COMM_SELF, ompi_mpi_comm_self)                   \
  HANDLE(MPI_Comm, comm_null, MPI_COMM_NULL, ompi_mpi_comm_null)                   \
  HANDLE(MPI_Errhandler, errors_return, MPI_ERRORS_RETURN, ompi_mpi_errors_return) \
  HANDLE(MPI_Info, info_null, MPI_INFO_NULL, ompi_mpi_info_null)                   \
  HANDLE(MPI_Datatype, byte_type, MPI_BYTE, ompi_mpi_byte)                         \
  HANDLE(MPI_Datatype, double_type, MPI_DOUBLE, ompi_mpi_double)                   \
  HANDLE(MPI_Datatype, datatype_null, MPI_DATATYPE_NULL, ompi_mpi_datatype_null)   \
  HANDLE(MPI_Op, op_null, MPI_OP_NULL, ompi_mpi_op_null)                           \
  HANDLE(MPI_Request, request_null, MPI_REQUEST_NULL, ompi_request_null)           \
  HANDLE(MPI_Op, op_no_op, MPI_NO_OP, ompi_mpi_op_no_op)                           \
  HANDLE(MPI_Op, op_max, MPI_MAX, ompi_mpi_op_max)                                 \
  HANDLE(MPI_Op, op_min, MPI_MIN, ompi_mpi_op_min)                                 \
  HANDLE(MPI_Op, op_sum, MPI_SUM, ompi_mpi_op_sum)                                 \
  HANDLE(MPI_Op, op_prod, MPI_PROD, ompi_mpi_op_prod)                              \
  HANDLE(MPI_Op, op_land, MPI_LAND, ompi_mpi_op_land)                              \
  HANDLE(MPI_Op, op_band, MPI_BAND, ompi_mpi_op_band)                              \
  HANDLE(MPI_Op, op_lor, MPI_LOR, ompi_mpi_op_lor)                                 \
  HANDLE(MPI_Op, op_bor, MPI_BOR, ompi_mpi_op_bor)                                 \
  HANDLE(MPI_Op, op_lxor, MPI_LXOR, ompi_mpi_op_lxor)                              \
  HANDLE(MPI_Op, op_bxor, MPI_BXOR, ompi_mpi_op_bxor)                              \
  HANDLE(MPI_Op, op_minloc, MPI_MINLOC, ompi_mpi_op_minloc)                        \
  HANDLE(MPI_Op, op_maxloc, MPI_MAXLOC, ompi_mpi_op_maxloc)

// Open MPI's predefined handles are addresses of variables in its library, so a preloaded library
// has to look them up by name, too.
#define FAIRLEAD_HANDLE_OF(Type, function, handle, variable) [[nodiscard]] Type function() noexcept;
FAIRLEAD_MPI_HANDLES(FAIRLEAD_HANDLE_OF)
FAIRLEAD_RELAY_HANDLES(FAIRLEAD_HANDLE_OF)
#undef FAIRLEAD_HANDLE_OF

// MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY; here it is MPICH alone that has variables.
[[nodiscard]] int* unweighted() noexcept;
[[nodiscard]] int* weights_empty() noexcept;

}  // namespace fairlead::intercept
