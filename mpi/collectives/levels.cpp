// SPDX-License-Identifier: Apache-2.0
// The MPI's own collective in groups of hosts, level by level (CMPI, Algorithm 3).
#include "mpi_calls.hpp"
#include "native.hpp"

namespace fairlead::collectives {
namespace {

bool is_first_in(MPI_Comm comm) {
  int rank = 0;
  mpi().Comm_rank(comm, &rank);
  return rank == 0;
}

}  // namespace

int levels_bcast(std::span<const MPI_Comm> comm_of_level, std::byte* message,
                 std::uint64_t num_bytes) {
  for (MPI_Comm comm : comm_of_level) {
    if (comm == comm_null()) continue;
    const int code = mpi().Bcast(message, static_cast<int>(num_bytes), byte_type(), 0, comm);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int levels_reduce(std::span<const MPI_Comm> comm_of_level, const Reduction& reduction,
                  const void* own, void* result, bool is_root, Buffers& buffers) {
  const Elements& elements = reduction.elements;
  const auto count = static_cast<int>(elements.count);
  const void* sum = own;
  for (std::size_t level = comm_of_level.size(); level > 0; --level) {
    MPI_Comm comm = comm_of_level[level - 1];
    if (comm == comm_null()) continue;
    if (!is_first_in(comm)) {
      return mpi().Reduce(sum, nullptr, count, elements.type, reduction.op, 0, comm);
    }
    void* into = is_root ? result : buffers.work.room_for(elements, elements.count);
    const int code = mpi().Reduce(sum == into ? MPI_IN_PLACE : sum, into, count, elements.type,
                                  reduction.op, 0, comm);
    if (code != MPI_SUCCESS) return code;
    sum = into;
  }
  return is_root ? copy(elements, sum, result, 0, elements.count) : MPI_SUCCESS;
}

}  // namespace fairlead::collectives
