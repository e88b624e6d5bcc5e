// SPDX-License-Identifier: Apache-2.0
// MPICH2's gather and scatter, a binomial tree of all processes, and places in such a tree.
#include <algorithm>
#include <cstring>

#include "mpich2.hpp"
#include "mpich2_algorithms.hpp"

namespace bench::mpich2 {
namespace {

/// Blocks of one length by relative ranks: those of a rank's subtree in the binomial tree.
struct Subtree {
  Subtree(const Place& place, std::size_t block_bytes)
      : to_parent(place.mask_to_parent()),
        num_blocks(std::min(to_parent, place.num_ranks - place.relative)),
        bytes(static_cast<std::size_t>(num_blocks) * block_bytes) {}

  int to_parent;
  int num_blocks;
  std::vector<std::byte> bytes;
};

std::size_t block_bytes_of(int count, MPI_Datatype type) {
  return Vector{nullptr, count, type}.num_bytes();
}

}  // namespace

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

Place::Place(MPI_Comm communicator, int root_rank)
    : comm(communicator), root(root_rank), num_ranks(size_of(communicator)) {
  relative = (rank_in(comm) - root + num_ranks) % num_ranks;
}

int Place::mask_to_parent() const {
  int mask = 1;
  while (mask < num_ranks && (relative & mask) == 0) mask *= 2;
  return mask;
}

std::size_t Vector::num_bytes() const {
  int size = 0;
  MPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

bool is_power_of_two(int value) {
  return power_of_two_below(value) == value;
}

int power_of_two_below(int value) {
  int power = 1;
  while (2 * power <= value) power *= 2;
  return power;
}

int gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
           MPI_Datatype in_type, int root, MPI_Comm comm) {
  const Place place(comm, root);
  const bool is_root = place.relative == 0;
  const std::size_t block_bytes =
      is_root ? block_bytes_of(in_count, in_type) : block_bytes_of(out_count, out_type);
  Subtree own(place, block_bytes);
  auto* all = static_cast<std::byte*>(in);
  const bool is_in_place = out == MPI_IN_PLACE;
  std::memcpy(own.bytes.data(),
              is_in_place ? all + static_cast<std::size_t>(root) * block_bytes : out, block_bytes);
  for (int mask = 1; mask < own.to_parent; mask *= 2) {
    const int child = place.relative + mask;
    if (child >= place.num_ranks) continue;
    const auto num_blocks = static_cast<std::size_t>(std::min(mask, place.num_ranks - child));
    MPI_Recv(own.bytes.data() + static_cast<std::size_t>(mask) * block_bytes,
             static_cast<int>(num_blocks * block_bytes), MPI_BYTE, place.rank_at(child), kTag, comm,
             MPI_STATUS_IGNORE);
  }
  if (!is_root) {
    return MPI_Send(own.bytes.data(), static_cast<int>(own.bytes.size()), MPI_BYTE,
                    place.rank_at(place.relative - own.to_parent), kTag, comm);
  }
  for (int block = is_in_place ? 1 : 0; block < place.num_ranks; ++block) {
    std::memcpy(all + static_cast<std::size_t>(place.rank_at(block)) * block_bytes,
                own.bytes.data() + static_cast<std::size_t>(block) * block_bytes, block_bytes);
  }
  return MPI_SUCCESS;
}

int scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
            MPI_Datatype in_type, int root, MPI_Comm comm) {
  const Place place(comm, root);
  const bool is_root = place.relative == 0;
  const std::size_t block_bytes =
      is_root ? block_bytes_of(out_count, out_type) : block_bytes_of(in_count, in_type);
  Subtree own(place, block_bytes);
  if (is_root) {
    for (int block = 0; block < place.num_ranks; ++block) {
      std::memcpy(own.bytes.data() + static_cast<std::size_t>(block) * block_bytes,
                  static_cast<const std::byte*>(out) +
                      static_cast<std::size_t>(place.rank_at(block)) * block_bytes,
                  block_bytes);
    }
  } else {
    MPI_Recv(own.bytes.data(), static_cast<int>(own.bytes.size()), MPI_BYTE,
             place.rank_at(place.relative - own.to_parent), kTag, comm, MPI_STATUS_IGNORE);
  }
  for (int mask = own.to_parent / 2; mask > 0; mask /= 2) {
    const int child = place.relative + mask;
    if (child >= place.num_ranks) continue;
    const auto num_blocks = static_cast<std::size_t>(std::min(mask, place.num_ranks - child));
    MPI_Send(own.bytes.data() + static_cast<std::size_t>(mask) * block_bytes,
             static_cast<int>(num_blocks * block_bytes), MPI_BYTE, place.rank_at(child), kTag,
             comm);
  }
  if (in != MPI_IN_PLACE) std::memcpy(in, own.bytes.data(), block_bytes);
  return MPI_SUCCESS;
}

}  // namespace bench::mpich2
