// SPDX-License-Identifier: Apache-2.0
// The meaning of a collective call: the bytes that one rank sends, and for exchanges the bytes for
// each peer. Pure: everything about MPI's state comes in through the constructor.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "handles/communicator.hpp"
#include "trace/counters.hpp"

namespace fairlead::intercept {

/// Bytes of payload in one element of a datatype.
using SizeOf = std::uint64_t (*)(MPI_Datatype);

/// Bytes in `count` elements; wide before multiplying, so that 2 GiB and more come out right.
[[nodiscard]] constexpr std::uint64_t payload_bytes(MPI_Count count, std::uint64_t type_bytes) {
  return count > 0 ? static_cast<std::uint64_t>(count) * type_bytes : 0;
}

/// One call of a collective. Each method takes the arguments that matter, passes to `emit(peer,
/// bytes)` what goes to which rank of the communicator (exchanges only), keeps the root, and
/// returns the bytes handed in. A significant MPI_IN_PLACE makes the receive arguments say what is
/// sent (MPI 4.0, chapter 6).
template <class Emit>
class Collective {
 public:
  Collective(const Communicator& communicator, SizeOf size_of, Emit emit)
      : comm_(communicator), size_of_(size_of), emit_(emit) {}

  /// The root of the call that was described; kNoRoot where there is none in the local group.
  int root() const { return root_; }

  std::uint64_t nothing() const { return 0; }

  std::uint64_t broadcast(MPI_Count count, MPI_Datatype type, int root) const {
    keep_root(root);
    return root == MPI_PROC_NULL ? 0 : bytes(count, type);
  }

  std::uint64_t reduce(MPI_Count count, MPI_Datatype type) const { return bytes(count, type); }

  std::uint64_t reduce_to(MPI_Count count, MPI_Datatype type, int root) const {
    keep_root(root);
    return is_bystander(root) ? 0 : bytes(count, type);
  }

  std::uint64_t gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root) const {
    keep_root(root);
    if (is_bystander(root)) return 0;
    return allgather(sendbuf, sendcount, sendtype, recvcount, recvtype);
  }

  template <class Count>
  std::uint64_t gather_v(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                         const Count* recvcounts, MPI_Datatype recvtype, int root) const {
    keep_root(root);
    if (is_bystander(root)) return 0;
    return allgather_v(sendbuf, sendcount, sendtype, recvcounts, recvtype);
  }

  std::uint64_t allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          MPI_Count recvcount, MPI_Datatype recvtype) const {
    return is_in_place(sendbuf) ? bytes(recvcount, recvtype) : bytes(sendcount, sendtype);
  }

  template <class Count>
  std::uint64_t allgather_v(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                            const Count* recvcounts, MPI_Datatype recvtype) const {
    return is_in_place(sendbuf) ? bytes(recvcounts[comm_.rank], recvtype)
                                : bytes(sendcount, sendtype);
  }

  /// The part of one rank, also at the root, so that all ranks of one call have the same size.
  std::uint64_t scatter(MPI_Count sendcount, MPI_Datatype sendtype, MPI_Count recvcount,
                        MPI_Datatype recvtype, int root) const {
    keep_root(root);
    if (root == MPI_PROC_NULL) return 0;
    return is_root(root) ? bytes(sendcount, sendtype) : bytes(recvcount, recvtype);
  }

  template <class Count>
  std::uint64_t scatter_v(const Count* sendcounts, MPI_Datatype sendtype, Count recvcount,
                          MPI_Datatype recvtype, int root) const {
    keep_root(root);
    if (root == MPI_PROC_NULL) return 0;
    if (root == MPI_ROOT) return sum(sendcounts, comm_.num_peers(), size_of_(sendtype));
    return is_root(root) ? bytes(sendcounts[comm_.rank], sendtype) : bytes(recvcount, recvtype);
  }

  template <class Count>
  std::uint64_t reduce_scatter(const Count* recvcounts, MPI_Datatype type) const {
    return sum(recvcounts, comm_.size, size_of_(type));
  }

  std::uint64_t reduce_scatter_block(MPI_Count recvcount, MPI_Datatype type) const {
    return static_cast<std::uint64_t>(comm_.size) * bytes(recvcount, type);
  }

  std::uint64_t alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         MPI_Count recvcount, MPI_Datatype recvtype) const {
    const std::uint64_t part = allgather(sendbuf, sendcount, sendtype, recvcount, recvtype);
    return to_each_peer([part](int) { return part; });
  }

  template <class Count>
  std::uint64_t alltoall_v(const void* sendbuf, const Count* sendcounts, MPI_Datatype sendtype,
                           const Count* recvcounts, MPI_Datatype recvtype) const {
    const Count* const counts = is_in_place(sendbuf) ? recvcounts : sendcounts;
    const std::uint64_t type_bytes = size_of_(is_in_place(sendbuf) ? recvtype : sendtype);
    return to_each_peer([=](int peer) { return payload_bytes(counts[peer], type_bytes); });
  }

  template <class Count>
  std::uint64_t alltoall_w(const void* sendbuf, const Count* sendcounts,
                           const MPI_Datatype* sendtypes, const Count* recvcounts,
                           const MPI_Datatype* recvtypes) const {
    const Count* const counts = is_in_place(sendbuf) ? recvcounts : sendcounts;
    const MPI_Datatype* const types = is_in_place(sendbuf) ? recvtypes : sendtypes;
    return to_each_peer([=, this](int peer) {
      // The type of an empty part may be invalid.
      return counts[peer] == 0 ? 0 : bytes(counts[peer], types[peer]);
    });
  }

  std::uint64_t neighbor_allgather(MPI_Count sendcount, MPI_Datatype sendtype) const {
    const std::uint64_t part = bytes(sendcount, sendtype);
    to_each_neighbor([part](std::size_t) { return part; });
    return part;
  }

  std::uint64_t neighbor_alltoall(MPI_Count sendcount, MPI_Datatype sendtype) const {
    const std::uint64_t part = bytes(sendcount, sendtype);
    return to_each_neighbor([part](std::size_t) { return part; });
  }

  template <class Count>
  std::uint64_t neighbor_alltoall_v(const Count* sendcounts, MPI_Datatype sendtype) const {
    const std::uint64_t type_bytes = size_of_(sendtype);
    return to_each_neighbor(
        [=](std::size_t index) { return payload_bytes(sendcounts[index], type_bytes); });
  }

  template <class Count>
  std::uint64_t neighbor_alltoall_w(const Count* sendcounts, const MPI_Datatype* sendtypes) const {
    return to_each_neighbor([=, this](std::size_t index) {
      return sendcounts[index] == 0 ? 0 : bytes(sendcounts[index], sendtypes[index]);
    });
  }

 private:
  void keep_root(int root) const {
    if (!comm_.is_inter) root_ = root;
  }

  std::uint64_t bytes(MPI_Count count, MPI_Datatype type) const {
    return payload_bytes(count, size_of_(type));
  }

  static bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

  bool is_root(int root) const {
    return root == MPI_ROOT || (!comm_.is_inter && root == comm_.rank);
  }

  // In the root's group of an intercommunicator no rank sends anything to a gather or reduce.
  static bool is_bystander(int root) { return root == MPI_ROOT || root == MPI_PROC_NULL; }

  template <class Count>
  static std::uint64_t sum(const Count* counts, int num_counts, std::uint64_t type_bytes) {
    std::uint64_t total = 0;
    for (int index = 0; index < num_counts; ++index) {
      total += payload_bytes(counts[index], type_bytes);
    }
    return total;
  }

  // A rank's own part of an alltoall does not leave it, and empty parts are not sent at all.
  template <class PartOf>
  std::uint64_t to_each_peer(PartOf part_of) const {
    std::uint64_t total = 0;
    for (int peer = 0; peer < comm_.num_peers(); ++peer) {
      const std::uint64_t part = part_of(peer);
      total += part;
      if (part > 0 && (comm_.is_inter || peer != comm_.rank)) emit_(peer, part);
    }
    return total;
  }

  // The same rank may be a neighbour several times; beyond the edge of a grid there is no rank.
  template <class PartOf>
  std::uint64_t to_each_neighbor(PartOf part_of) const {
    std::uint64_t total = 0;
    for (std::size_t index = 0; index < comm_.neighbors.size(); ++index) {
      if (comm_.neighbors[index] == MPI_PROC_NULL) continue;
      const std::uint64_t part = part_of(index);
      total += part;
      if (part > 0) emit_(comm_.neighbors[index], part);
    }
    return total;
  }

  const Communicator& comm_;
  SizeOf size_of_;
  Emit emit_;
  mutable int root_ = kNoRoot;  // the methods are const for those who describe a call
};

}  // namespace fairlead::intercept
