// SPDX-License-Identifier: Apache-2.0
// Elements in memory.
#include "team.hpp"
#include "mpi_calls.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace fairlead::collectives {

int elements_of(MPI_Datatype type, std::uint64_t count, Elements& elements) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  int size = 0;
  if (const int code = mpi().Type_get_extent(type, &lower, &extent); code != MPI_SUCCESS) {
    return code;
  }
  if (const int code = mpi().Type_get_true_extent(type, &true_lower, &true_extent);
      code != MPI_SUCCESS) {
    return code;
  }
  if (const int code = mpi().Type_size(type, &size); code != MPI_SUCCESS) return code;
  elements = {.type = type,
              .count = count,
              .extent_bytes = extent,
              .true_lower_bytes = true_lower,
              .true_extent_bytes = true_extent,
              .is_dense = true_lower == 0 && extent == size && true_extent == size};
  return MPI_SUCCESS;
}

Elements bytes_of(std::uint64_t count) {
  return {.type = byte_type(),
          .count = count,
          .extent_bytes = 1,
          .true_lower_bytes = 0,
          .true_extent_bytes = 1,
          .is_dense = true};
}

int copy(const Elements& elements, const void* from, void* to, std::uint64_t first,
         std::uint64_t end) {
  if (from == to || first == end) return MPI_SUCCESS;
  const auto num_bytes = static_cast<std::uint64_t>(elements.extent_bytes) * (end - first);
  if (elements.is_dense) {
    std::memcpy(elements.at(to, first), elements.at(from, first), num_bytes);
    return MPI_SUCCESS;
  }
  // The gaps of the other buffer stay as they are.
  const auto count = static_cast<int>(end - first);
  return mpi().Sendrecv(elements.at(from, first), count, elements.type, 0, 0,
                        elements.at(to, first), count, elements.type, 0, 0, comm_self(),
                        MPI_STATUS_IGNORE);
}

std::byte* Buffer::bytes(std::uint64_t num_bytes) {
  if (bytes_.size() < num_bytes) {
    bytes_.clear();  // Nothing of it is worth a copy.
    bytes_.resize(num_bytes);
  }
  return bytes_.data();
}

std::byte* Buffer::room_for(const Elements& elements, std::uint64_t count) {
  if (count == 0) return bytes(0);
  const std::ptrdiff_t others = elements.extent_bytes * static_cast<std::ptrdiff_t>(count - 1);
  // With a negative extent the first element lies last.
  const std::ptrdiff_t first = others < 0 ? -others : 0;
  // An MPI may write the gap behind the last element, too.
  const std::ptrdiff_t last = std::max(elements.true_extent_bytes, elements.extent_bytes);
  std::byte* begin = bytes(static_cast<std::uint64_t>(last + std::max(others, -others)));
  return begin + first - elements.true_lower_bytes;
}

}  // namespace fairlead::collectives
