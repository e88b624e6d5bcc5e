// SPDX-License-Identifier: Apache-2.0
// MPICH2's three algorithms for a bcast.
#include <algorithm>

#include "mpich2_algorithms.hpp"

namespace bench::mpich2 {
namespace {

/// A message cut in as many parts as there are ranks, by relative ranks; the last may be empty.
class Parts {
 public:
  Parts(const Vector& vector, int num_ranks)
      : bytes_(static_cast<std::byte*>(vector.data)), num_bytes_(vector.num_bytes()) {
    const auto count = static_cast<std::size_t>(num_ranks);
    part_bytes_ = (num_bytes_ + count - 1) / count;
  }

  [[nodiscard]] std::byte* at(int part) const { return bytes_ + offset(part); }
  /// Bytes of the parts from the first up to the last, which does not count.
  [[nodiscard]] int length(int first, int last) const {
    return static_cast<int>(offset(last) - offset(first));
  }

 private:
  [[nodiscard]] std::size_t offset(int part) const {
    return std::min(num_bytes_, static_cast<std::size_t>(part) * part_bytes_);
  }
  std::byte* bytes_;
  std::size_t num_bytes_;
  std::size_t part_bytes_;
};

/// Each rank gets the parts of its subtree of the binomial tree; empty messages are left out.
void scatter_parts(const Parts& parts, const Place& place) {
  const int to_parent = place.mask_to_parent();
  const auto end = [&](int first, int mask) { return std::min(first + mask, place.num_ranks); };
  if (place.relative != 0) {
    const int length = parts.length(place.relative, end(place.relative, to_parent));
    if (length > 0) {
      MPI_Recv(parts.at(place.relative), length, MPI_BYTE,
               place.rank_at(place.relative - to_parent), kTag, place.comm, MPI_STATUS_IGNORE);
    }
  }
  for (int mask = to_parent / 2; mask > 0; mask /= 2) {
    const int child = place.relative + mask;
    if (child >= place.num_ranks) continue;
    const int length = parts.length(child, end(child, mask));
    if (length <= 0) continue;
    MPI_Send(parts.at(child), length, MPI_BYTE, place.rank_at(child), kTag, place.comm);
  }
}

}  // namespace

void bcast_binomial(const Vector& vector, int root, MPI_Comm comm) {
  const Place place(comm, root);
  const int to_parent = place.mask_to_parent();
  if (place.relative != 0) {
    MPI_Recv(vector.data, vector.count, vector.type, place.rank_at(place.relative - to_parent),
             kTag, comm, MPI_STATUS_IGNORE);
  }
  for (int mask = to_parent / 2; mask > 0; mask /= 2) {
    const int child = place.relative + mask;
    if (child >= place.num_ranks) continue;
    MPI_Send(vector.data, vector.count, vector.type, place.rank_at(child), kTag, comm);
  }
}

void bcast_scatter_doubling(const Vector& vector, int root, MPI_Comm comm) {
  const Place place(comm, root);
  const Parts parts(vector, place.num_ranks);
  scatter_parts(parts, place);
  for (int mask = 1; mask < place.num_ranks; mask *= 2) {
    const int own = place.relative / mask * mask;  // of the parts that this rank has
    const int partner = place.relative ^ mask;
    const int theirs = partner / mask * mask;
    const int rank = place.rank_at(partner);
    MPI_Sendrecv(parts.at(own), parts.length(own, own + mask), MPI_BYTE, rank, kTag,
                 parts.at(theirs), parts.length(theirs, theirs + mask), MPI_BYTE, rank, kTag, comm,
                 MPI_STATUS_IGNORE);
  }
}

void bcast_scatter_ring(const Vector& vector, int root, MPI_Comm comm) {
  const Place place(comm, root);
  const int num_ranks = place.num_ranks;
  const Parts parts(vector, num_ranks);
  scatter_parts(parts, place);
  const int next = place.rank_at(place.relative + 1);
  const int previous = place.rank_at(place.relative + num_ranks - 1);
  for (int step = 0; step < num_ranks - 1; ++step) {
    const int sent = (place.relative - step + num_ranks) % num_ranks;
    const int received = (sent - 1 + num_ranks) % num_ranks;
    MPI_Sendrecv(parts.at(sent), parts.length(sent, sent + 1), MPI_BYTE, next, kTag,
                 parts.at(received), parts.length(received, received + 1), MPI_BYTE, previous, kTag,
                 comm, MPI_STATUS_IGNORE);
  }
}

}  // namespace bench::mpich2
