// SPDX-License-Identifier: Apache-2.0
// bcast, reduce, gather and scatter: between the hosts by the schedule, inside a host by the MPI.
#include <cstring>

#include "guarded.hpp"
#include "host_blocks.hpp"
#include "mpi_calls.hpp"
#include "native.hpp"
#include "operations.hpp"
#include "packing.hpp"

namespace fairlead::collectives {
namespace {

std::vector<std::uint64_t> equal_lengths(const Members& members, std::uint64_t block_bytes) {
  return std::vector<std::uint64_t>(static_cast<std::size_t>(members.num_ranks()), block_bytes);
}

int bcast_between_hosts(const Schedule& schedule, Members& members, std::byte* bytes,
                        std::uint64_t num_bytes, int root) {
  if (schedule.form == Form::levels) {
    std::span<const MPI_Comm> comms;
    const int code = members.comms_of_levels(schedule, root, comms);
    return code == MPI_SUCCESS ? levels_bcast(comms, bytes, num_bytes) : code;
  }
  if (!members.is_leader(root)) return MPI_SUCCESS;
  return forest_bcast(schedule, members.forest_part_of(schedule), members.team(root), bytes,
                      num_bytes);
}

int bcast_bytes(const Schedule& schedule, Members& members, std::byte* bytes,
                std::uint64_t num_bytes, int root) {
  const auto length = static_cast<int>(num_bytes);
  if (schedule.form == Form::native) {
    InOrder order;
    const int code = members.in_order(schedule, order);
    if (code != MPI_SUCCESS) return code;
    return mpi().Bcast(bytes, length, byte_type(), order.new_rank_of(root), order.comm);
  }
  const int code = bcast_between_hosts(schedule, members, bytes, num_bytes, root);
  if (code != MPI_SUCCESS || members.is_one_per_host()) return code;
  return mpi().Bcast(bytes, length, byte_type(), members.local_leader(root), members.host_comm());
}

int reduce_between_hosts(const Schedule& schedule, Members& members, const Reduction& reduction,
                         const void* own, void* result, int root) {
  if (schedule.form == Form::levels) {
    std::span<const MPI_Comm> comms;
    const int code = members.comms_of_levels(schedule, root, comms);
    if (code != MPI_SUCCESS || !members.is_leader(root)) return code;
    return levels_reduce(comms, reduction, own, result, members.rank() == root, members.buffers);
  }
  if (!members.is_leader(root)) return MPI_SUCCESS;
  return forest_reduce(schedule, members.forest_part_of(schedule), members.team(root), reduction,
                       own, result, members.buffers);
}

/// Moves the root's own values out of the buffer for the result: MPICH 4.0 fails in place at any
/// root but rank 0.
int copy_aside(Members& members, const Elements& elements, const void*& own) {
  void* aside = members.buffers.host.room_for(elements, elements.count);
  const int code = copy(elements, own, aside, 0, elements.count);
  own = aside;
  return code;
}

/// Inside each host to its leader: what the leader then holds is `own`.
int reduce_inside_host(Members& members, const Reduction& reduction, const void*& own, void* into,
                       int root) {
  const bool is_leader = members.is_leader(root);
  const Elements& elements = reduction.elements;
  if (is_leader && into == nullptr) {
    into = members.buffers.host.room_for(elements, elements.count);
  } else if (is_leader && own == into) {
    if (const int code = copy_aside(members, elements, own); code != MPI_SUCCESS) return code;
  }
  const int code = mpi().Reduce(own, into, static_cast<int>(elements.count), elements.type,
                                reduction.op, members.local_leader(root), members.host_comm());
  if (is_leader) own = into;
  return code;
}

/// What the leader of this host sends of a gather, and gets of a scatter: the blocks of its host.
/// At the root they lie among the others.
std::byte* blocks_of_host(Members& members, const HostBlocks& blocks, std::byte* all, int root) {
  const Block& block = blocks.of_host(members.host());
  if (members.rank() == root) return all + block.first;
  return members.buffers.host.bytes(block.length());
}

int gather_between_hosts(const Schedule& schedule, Members& members, std::byte* all,
                         const HostBlocks& blocks, const std::byte* own, int root) {
  const Team team = members.team(root);
  if (schedule.form == Form::split_tree) {
    return split_tree_gather(schedule, team, all, blocks.layout(), own, members.buffers);
  }
  return linear_gather(schedule, team, all, blocks.layout(), own);
}

int gather_bytes(const Schedule& schedule, Members& members, const std::byte* own, std::byte* all,
                 std::uint64_t block_bytes, int root) {
  if (schedule.form == Form::native) {
    InOrder order;
    if (const int code = members.in_order(schedule, order); code != MPI_SUCCESS) return code;
    return native_gather(order, root, own, all, block_bytes, members.buffers);
  }
  const HostBlocks blocks(members, equal_lengths(members, block_bytes));
  const bool is_root = members.rank() == root;
  std::byte* by_host = all;
  if (is_root && blocks.is_moved()) {
    by_host = members.buffers.order.bytes(block_bytes * equal_lengths(members, 1).size());
  }
  if (members.is_one_per_host()) {
    std::byte* place = is_root ? by_host + blocks.of_rank(root).first : nullptr;
    if (is_root && place != own) std::memcpy(place, own, block_bytes);
    return gather_between_hosts(schedule, members, by_host, blocks, own, root);
  }
  std::byte* of_host =
      members.is_leader(root) ? blocks_of_host(members, blocks, by_host, root) : nullptr;
  const auto length = static_cast<int>(block_bytes);
  const int local_root = members.local_leader(root);
  // The root's own block may lie at its place already, or where another's is to come.
  const bool is_in_place = is_root && own == by_host + blocks.of_rank(root).first;
  int code = mpi().Gather(is_in_place ? MPI_IN_PLACE : own, length, byte_type(), of_host, length,
                          byte_type(), local_root, members.host_comm());
  if (code != MPI_SUCCESS || !members.is_leader(root)) return code;
  code = gather_between_hosts(schedule, members, by_host, blocks, of_host, root);
  if (code == MPI_SUCCESS && is_root && blocks.is_moved()) blocks.move_out(by_host, all);
  return code;
}

int scatter_between_hosts(const Schedule& schedule, Members& members, const std::byte* all,
                          const HostBlocks& blocks, std::byte* own, int root) {
  const Team team = members.team(root);
  if (schedule.form == Form::split_tree) {
    return split_tree_scatter(schedule, team, all, blocks.layout(), own, members.buffers);
  }
  return linear_scatter(schedule, team, all, blocks.layout(), own);
}

/// @param own  null: the root's block stays where it is
int scatter_bytes(const Schedule& schedule, Members& members, const std::byte* all, std::byte* own,
                  std::uint64_t block_bytes, int root) {
  if (schedule.form == Form::native) {
    InOrder order;
    if (const int code = members.in_order(schedule, order); code != MPI_SUCCESS) return code;
    if (own == nullptr) own = members.buffers.host.bytes(block_bytes);
    return native_scatter(order, root, all, own, block_bytes, members.buffers);
  }
  const HostBlocks blocks(members, equal_lengths(members, block_bytes));
  const bool is_root = members.rank() == root;
  const std::byte* by_host = all;
  if (is_root && blocks.is_moved()) {
    std::byte* moved = members.buffers.order.bytes(block_bytes * equal_lengths(members, 1).size());
    blocks.move_in(all, moved);
    by_host = moved;
  }
  if (members.is_one_per_host()) {
    if (is_root && own != nullptr) {
      std::memcpy(own, by_host + blocks.of_rank(root).first, block_bytes);
    }
    return scatter_between_hosts(schedule, members, by_host, blocks, own, root);
  }
  const std::byte* of_host = nullptr;
  if (members.is_leader(root)) {
    std::byte* received = is_root ? nullptr : blocks_of_host(members, blocks, nullptr, root);
    const int code = scatter_between_hosts(schedule, members, by_host, blocks, received, root);
    if (code != MPI_SUCCESS) return code;
    of_host = is_root ? by_host + blocks.of_host(members.host()).first : received;
  }
  const auto length = static_cast<int>(block_bytes);
  return mpi().Scatter(of_host, length, byte_type(), own == nullptr ? MPI_IN_PLACE : own, length,
                       byte_type(), members.local_leader(root), members.host_comm());
}

}  // namespace

int bcast(const Schedule& schedule, Members& members, void* buffer, int count, MPI_Datatype type,
          int root) noexcept {
  return guarded([&]() -> int {
    AsBytes message(buffer, 1, count, type, members.comm());
    if (const int code = message.open(); code != MPI_SUCCESS) return code;
    if (message.block_bytes() == 0) return MPI_SUCCESS;
    const bool is_root = members.rank() == root;
    std::byte* bytes = nullptr;
    int code = is_root ? message.to_receive_around(0, members.buffers.in, bytes)
                       : message.to_receive(members.buffers.in, bytes);
    if (code != MPI_SUCCESS) return code;
    code = bcast_bytes(schedule, members, bytes, message.block_bytes(), root);
    return code == MPI_SUCCESS && !is_root ? message.received() : code;
  });
}

int reduce(const Schedule& schedule, Members& members, const void* send, void* receive, int count,
           MPI_Datatype type, MPI_Op op, int root) noexcept {
  return guarded([&]() -> int {
    if (count == 0) return MPI_SUCCESS;
    Reduction reduction{.elements = {}, .op = op};
    int code = elements_of(type, static_cast<std::uint64_t>(count), reduction.elements);
    if (code != MPI_SUCCESS) return code;
    const bool is_root = members.rank() == root;
    const void* own = send == MPI_IN_PLACE ? receive : send;
    if (schedule.form == Form::native) {
      InOrder order;
      if (code = members.in_order(schedule, order); code != MPI_SUCCESS) return code;
      if (send == MPI_IN_PLACE) code = copy_aside(members, reduction.elements, own);
      if (code != MPI_SUCCESS) return code;
      return mpi().Reduce(own, receive, count, type, op, order.new_rank_of(root), order.comm);
    }
    void* result = is_root ? receive : nullptr;
    if (!members.is_one_per_host()) {
      code = reduce_inside_host(members, reduction, own, result, root);
      if (code != MPI_SUCCESS) return code;
    }
    return reduce_between_hosts(schedule, members, reduction, own, result, root);
  });
}

int gather(const Schedule& schedule, Members& members, const void* send, int send_count,
           MPI_Datatype send_type, void* receive, int receive_count, MPI_Datatype receive_type,
           int root) noexcept {
  return guarded([&]() -> int {
    const bool is_root = members.rank() == root;
    const auto num_ranks = static_cast<std::uint64_t>(members.num_ranks());
    AsBytes all(receive, num_ranks, receive_count, receive_type, members.comm());
    std::byte* all_bytes = nullptr;
    const std::byte* own_bytes = nullptr;
    std::uint64_t block_bytes = 0;
    int code = MPI_SUCCESS;
    if (is_root) {
      if (code = all.open(); code != MPI_SUCCESS) return code;
      block_bytes = all.block_bytes();
      const auto rank = static_cast<std::uint64_t>(root);
      code = send == MPI_IN_PLACE ? all.to_receive_around(rank, members.buffers.in, all_bytes)
                                  : all.to_receive(members.buffers.in, all_bytes);
      own_bytes = all_bytes + rank * block_bytes;
    }
    AsBytes own(send, 1, send_count, send_type, members.comm());
    if (code == MPI_SUCCESS && send != MPI_IN_PLACE) {
      if (code = own.open(); code != MPI_SUCCESS) return code;
      block_bytes = own.block_bytes();
      code = own.to_send(members.buffers.out, own_bytes);
    }
    if (code != MPI_SUCCESS || block_bytes == 0) return code;
    code = gather_bytes(schedule, members, own_bytes, all_bytes, block_bytes, root);
    return code == MPI_SUCCESS && is_root ? all.received() : code;
  });
}

int scatter(const Schedule& schedule, Members& members, const void* send, int send_count,
            MPI_Datatype send_type, void* receive, int receive_count, MPI_Datatype receive_type,
            int root) noexcept {
  return guarded([&]() -> int {
    const auto num_ranks = static_cast<std::uint64_t>(members.num_ranks());
    AsBytes all(send, num_ranks, send_count, send_type, members.comm());
    const std::byte* all_bytes = nullptr;
    std::byte* own_bytes = nullptr;
    std::uint64_t block_bytes = 0;
    int code = MPI_SUCCESS;
    if (members.rank() == root) {
      if (code = all.open(); code != MPI_SUCCESS) return code;
      block_bytes = all.block_bytes();
      code = all.to_send(members.buffers.out, all_bytes);
    }
    AsBytes own(receive, 1, receive_count, receive_type, members.comm());
    if (code == MPI_SUCCESS && receive != MPI_IN_PLACE) {
      if (code = own.open(); code != MPI_SUCCESS) return code;
      block_bytes = own.block_bytes();
      code = own.to_receive(members.buffers.in, own_bytes);
    }
    if (code != MPI_SUCCESS || block_bytes == 0) return code;
    code = scatter_bytes(schedule, members, all_bytes, own_bytes, block_bytes, root);
    return code == MPI_SUCCESS && receive != MPI_IN_PLACE ? own.received() : code;
  });
}

}  // namespace fairlead::collectives
