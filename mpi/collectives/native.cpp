// SPDX-License-Identifier: Apache-2.0
// The MPI's own collectives on a communicator in a better order; blocks are put back into place.
#include "native.hpp"
#include "mpi_calls.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace fairlead::collectives {
namespace {

std::uint64_t offset_of(int rank, std::uint64_t block_bytes) {
  return static_cast<std::uint64_t>(rank) * block_bytes;
}

/// From the order of the old ranks to that of the new ones.
void put_in_order(const InOrder& order, const std::byte* from, std::byte* to,
                  std::uint64_t block_bytes) {
  for (std::size_t place = 0; place < order.ranks.size(); ++place) {
    std::memcpy(to + place * block_bytes, from + offset_of(order.ranks[place], block_bytes),
                block_bytes);
  }
}

void put_back(const InOrder& order, const std::byte* from, std::byte* to,
              std::uint64_t block_bytes) {
  for (std::size_t place = 0; place < order.ranks.size(); ++place) {
    std::memcpy(to + offset_of(order.ranks[place], block_bytes), from + place * block_bytes,
                block_bytes);
  }
}

bool is_same_order(const InOrder& order) {
  return std::is_sorted(order.ranks.begin(), order.ranks.end());
}

}  // namespace

int native_gather(const InOrder& order, int root, const std::byte* own, std::byte* all,
                  std::uint64_t block_bytes, Buffers& buffers) {
  const auto length = static_cast<int>(block_bytes);
  const int new_root = order.new_rank_of(root);
  const bool puts_back = all != nullptr && !is_same_order(order);
  std::byte* into = puts_back ? buffers.work.bytes(order.ranks.size() * block_bytes) : all;
  const bool is_in_place = into != nullptr && own == into + offset_of(root, block_bytes);
  const int code = mpi().Gather(is_in_place ? MPI_IN_PLACE : own, length, byte_type(), into, length,
                                byte_type(), new_root, order.comm);
  if (code == MPI_SUCCESS && puts_back) put_back(order, into, all, block_bytes);
  return code;
}

int native_scatter(const InOrder& order, int root, const std::byte* all, std::byte* own,
                   std::uint64_t block_bytes, Buffers& buffers) {
  const auto length = static_cast<int>(block_bytes);
  const std::byte* from = all;
  if (all != nullptr && !is_same_order(order)) {
    std::byte* ordered = buffers.work.bytes(order.ranks.size() * block_bytes);
    put_in_order(order, all, ordered, block_bytes);
    from = ordered;
  }
  return mpi().Scatter(from, length, byte_type(), own, length, byte_type(), order.new_rank_of(root),
                       order.comm);
}

int native_allgather(const InOrder& order, int rank, std::byte* all, std::uint64_t block_bytes,
                     Buffers& buffers) {
  const auto length = static_cast<int>(block_bytes);
  if (is_same_order(order)) {
    return mpi().Allgather(MPI_IN_PLACE, 0, byte_type(), all, length, byte_type(), order.comm);
  }
  std::byte* ordered = buffers.work.bytes(order.ranks.size() * block_bytes);
  const int code = mpi().Allgather(all + offset_of(rank, block_bytes), length, byte_type(), ordered,
                                   length, byte_type(), order.comm);
  if (code == MPI_SUCCESS) put_back(order, ordered, all, block_bytes);
  return code;
}

int native_allgatherv(const InOrder& order, std::byte* all,
                      std::span<const std::uint64_t> offsets) {
  std::vector<int> lengths;
  std::vector<int> places;
  for (const int rank : order.ranks) {
    const auto index = static_cast<std::size_t>(rank);
    lengths.push_back(static_cast<int>(offsets[index + 1] - offsets[index]));
    places.push_back(static_cast<int>(offsets[index]));
  }
  return mpi().Allgatherv(MPI_IN_PLACE, 0, byte_type(), all, lengths.data(), places.data(),
                          byte_type(), order.comm);
}

int native_alltoall(const InOrder& order, const std::byte* out, std::byte* in,
                    std::uint64_t block_bytes, Buffers& buffers) {
  const auto length = static_cast<int>(block_bytes);
  if (is_same_order(order)) {
    return mpi().Alltoall(out, length, byte_type(), in, length, byte_type(), order.comm);
  }
  const std::uint64_t num_bytes = order.ranks.size() * block_bytes;
  std::byte* ordered = buffers.work.bytes(num_bytes);
  std::byte* received = buffers.slots.bytes(num_bytes);
  put_in_order(order, out, ordered, block_bytes);
  const int code =
      mpi().Alltoall(ordered, length, byte_type(), received, length, byte_type(), order.comm);
  if (code == MPI_SUCCESS) put_back(order, received, in, block_bytes);
  return code;
}

int native_reduce_scatter(const InOrder& order, std::span<const int> counts,
                          const Reduction& reduction, const void* vector, void* own,
                          Buffers& buffers) {
  const Elements& elements = reduction.elements;
  if (is_same_order(order)) {
    return mpi().Reduce_scatter(vector, own, counts.data(), elements.type, reduction.op,
                                order.comm);
  }
  std::vector<std::uint64_t> first_of_rank{0};
  for (const int count : counts) {
    first_of_rank.push_back(first_of_rank.back() + static_cast<std::uint64_t>(count));
  }
  void* ordered = buffers.work.room_for(elements, elements.count);
  std::vector<int> new_counts;
  std::uint64_t place = 0;
  for (const int rank : order.ranks) {
    const auto index = static_cast<std::size_t>(rank);
    const auto length = static_cast<std::uint64_t>(counts[index]);
    const int code = copy(elements, elements.at(vector, first_of_rank[index]),
                          elements.at(ordered, place), 0, length);
    if (code != MPI_SUCCESS) return code;
    place += length;
    new_counts.push_back(counts[index]);
  }
  return mpi().Reduce_scatter(ordered, own, new_counts.data(), elements.type, reduction.op,
                              order.comm);
}

}  // namespace fairlead::collectives
