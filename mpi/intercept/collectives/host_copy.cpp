// SPDX-License-Identifier: Apache-2.0
#include "collectives/host_copy.hpp"

#include <algorithm>
#include <utility>

#include "plan/world_hosts.hpp"
#include "pmpi/addressed_memory.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

/// Nothing else is under way on the communicator of the schedules.
constexpr int kCopyTag = 0;

}  // namespace

std::vector<Piece> blocks(int num_blocks, int count) {
  std::vector<Piece> all;
  for (int block = 0; block < num_blocks; ++block) {
    all.push_back({.displacement = MPI_Aint{block} * count, .count = count});
  }
  return all;
}

void HostCopy::make(MPI_Datatype type, const fairlead::collectives::Members& members,
                    std::vector<Piece> pieces) {
  std::erase_if(pieces, [](const Piece& each) { return each.count == 0; });
  if (pieces.empty()) return;
  pieces_ = std::move(pieces);
  type_ = type;
  comm_ = members.comm();
  rank_ = members.rank();
  MPI_Aint lower = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  require_success(mpi().Type_get_extent(type, &lower, &extent_bytes_));
  require_success(mpi().Type_get_true_extent(type, &true_lower, &true_extent));
  std::vector<MPI_Aint> places;  // of the first and last elements
  for (const Piece& piece : pieces_) {
    places.push_back(piece.displacement * extent_bytes_);
    places.push_back((piece.displacement + piece.count - 1) * extent_bytes_);
  }
  const auto [begin, end] = std::minmax_element(places.begin(), places.end());
  room_.resize(static_cast<std::size_t>(*end - *begin + true_extent));
  buffer_ = at_distance(room_.data(), -(*begin + true_lower));
}

void HostCopy::copy(bool is_to_host) const {
  for (const Piece& piece : pieces_) {
    void* const own = at_distance(own_, piece.displacement * extent_bytes_);
    void* const host = at_distance(buffer_, piece.displacement * extent_bytes_);
    require_success(mpi().Sendrecv(is_to_host ? own : host, piece.count, type_, rank_, kCopyTag,
                                   is_to_host ? host : own, piece.count, type_, rank_, kCopyTag,
                                   comm_, MPI_STATUS_IGNORE));
  }
}

}  // namespace fairlead::intercept
