// SPDX-License-Identifier: Apache-2.0
// allgather, allreduce, reduce_scatter, alltoall and barrier, and what a schedule is good for.
#include <climits>
#include <cstring>
#include <numeric>

#include "guarded.hpp"
#include "host_blocks.hpp"
#include "mpi_calls.hpp"
#include "native.hpp"
#include "operations.hpp"
#include "packing.hpp"

namespace fairlead::collectives {
namespace {

int allgather_between_hosts(const Schedule& schedule, Members& members, std::byte* all,
                            const HostBlocks& blocks) {
  const Team team = members.team(kNoHost);
  if (schedule.form == Form::dissemination) {
    return dissemination_allgather(schedule, team, all, blocks.layout(), members.buffers);
  }
  if (schedule.form == Form::linear) return linear_allgather(schedule, team, all, blocks.layout());
  if (schedule.form == Form::two_level) {
    return two_level_allgather(schedule, team, all, blocks.layout());
  }
  return ring_allgather(schedule, team, all, blocks.layout());
}

/// The blocks of this host's processes to its leader.
int gather_inside_host(Members& members, const HostBlocks& blocks, const std::byte* own,
                       std::byte* by_host) {
  std::vector<int> lengths;
  std::vector<int> places;
  for (const int rank : members.ranks_of(members.host())) {
    lengths.push_back(static_cast<int>(blocks.of_rank(rank).length()));
    places.push_back(static_cast<int>(blocks.of_rank(rank).first));
  }
  // The leader is the first of its host: without a move its block is in place.
  const bool is_in_place = members.is_leader(kNoHost) && !blocks.is_moved();
  return mpi().Gatherv(is_in_place ? MPI_IN_PLACE : own,
                       static_cast<int>(blocks.of_rank(members.rank()).length()), byte_type(),
                       by_host, lengths.data(), places.data(), byte_type(), 0, members.host_comm());
}

/// @param all  the blocks in the order of the ranks; holds this process's at first
int allgather_blocks(const Schedule& schedule, Members& members, std::byte* all,
                     std::span<const std::uint64_t> lengths) {
  const HostBlocks blocks(members, lengths);
  if (members.is_one_per_host()) return allgather_between_hosts(schedule, members, all, blocks);
  const auto own = lengths.first(static_cast<std::size_t>(members.rank()));
  const auto before = std::accumulate(own.begin(), own.end(), std::uint64_t{0});
  const auto total = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  std::byte* by_host = blocks.is_moved() ? members.buffers.order.bytes(total) : all;
  int code = gather_inside_host(members, blocks, all + before, by_host);
  if (code == MPI_SUCCESS && members.is_leader(kNoHost)) {
    code = allgather_between_hosts(schedule, members, by_host, blocks);
  }
  if (code != MPI_SUCCESS) return code;
  code = mpi().Bcast(by_host, static_cast<int>(total), byte_type(), 0, members.host_comm());
  if (code == MPI_SUCCESS && blocks.is_moved()) blocks.move_out(by_host, all);
  return code;
}

/// @param all  holds this process's block at first
int allgather_bytes(const Schedule& schedule, Members& members, std::byte* all,
                    std::uint64_t block_bytes) {
  if (schedule.form == Form::native) {
    InOrder order;
    const int code = members.in_order(schedule, order);
    if (code != MPI_SUCCESS) return code;
    return native_allgather(order, members.rank(), all, block_bytes, members.buffers);
  }
  const auto num_ranks = static_cast<std::size_t>(members.num_ranks());
  const std::vector<std::uint64_t> lengths(num_ranks, block_bytes);
  return allgather_blocks(schedule, members, all, lengths);
}

/// Whether blocks of these lengths follow one another in the order of the ranks.
bool is_consecutive(std::span<const int> counts, std::span<const std::ptrdiff_t> offsets) {
  for (std::size_t rank = 0; rank + 1 < counts.size(); ++rank) {
    if (offsets[rank + 1] != offsets[rank] + counts[rank]) return false;
  }
  return true;
}

int allreduce_between_hosts(const Schedule& schedule, Members& members, const Reduction& reduction,
                            const void* own, void* result) {
  const Team team = members.team(kNoHost);
  if (schedule.form == Form::forest) {
    return forest_allreduce(schedule, members.forest_part_of(schedule), team, reduction, own,
                            result, members.buffers);
  }
  const int code = copy(reduction.elements, own, result, 0, reduction.elements.count);
  if (code != MPI_SUCCESS) return code;
  if (schedule.form == Form::doubling) {
    return doubling_allreduce(schedule, team, reduction, result, members.buffers);
  }
  if (schedule.form == Form::linear) {
    return linear_allreduce(schedule, team, reduction, result, members.buffers);
  }
  if (schedule.form == Form::two_level) {
    return two_level_allreduce(schedule, team, reduction, result, members.buffers);
  }
  return ring_allreduce(schedule, team, reduction, result, members.buffers);
}

/// The own values of this process, or those of its host at the leader, by host in `vector`.
int bring_together(Members& members, const Reduction& reduction, const HostBlocks& blocks,
                   const void* own, void* vector) {
  const Elements& elements = reduction.elements;
  const void* from = own;
  if (!members.is_one_per_host()) {
    void* sum = members.is_leader(kNoHost) ? members.buffers.host.room_for(elements, elements.count)
                                           : nullptr;
    const int code = mpi().Reduce(own, sum, static_cast<int>(elements.count), elements.type,
                                  reduction.op, 0, members.host_comm());
    if (code != MPI_SUCCESS || sum == nullptr) return code;
    from = sum;
  }
  return blocks.move_in([&](std::uint64_t there, std::uint64_t here, std::uint64_t length) {
    return copy(elements, elements.at(from, there), elements.at(vector, here), 0, length);
  });
}

int reduce_scatter_between_hosts(const Schedule& schedule, Members& members,
                                 const Reduction& reduction, void* vector,
                                 const HostBlocks& blocks) {
  const Team team = members.team(kNoHost);
  const auto follow = schedule.form == Form::linear          ? linear_reduce_scatter
                      : schedule.form == Form::dissemination ? dissemination_reduce_scatter
                      : schedule.form == Form::two_level     ? two_level_reduce_scatter
                                                             : ring_reduce_scatter;
  return follow(schedule, team, reduction, vector, blocks.layout(), members.buffers);
}

/// From the leader's `vector` to the processes of its host.
int deal_out(Members& members, const Reduction& reduction, const HostBlocks& blocks,
             const void* vector, void* receive, const int* counts) {
  const Elements& elements = reduction.elements;
  if (members.is_one_per_host()) {
    const Block& block = blocks.of_rank(members.rank());
    return copy(elements, elements.at(vector, block.first), receive, 0, block.length());
  }
  const auto& ranks = members.ranks_of(members.host());
  std::vector<int> lengths;
  std::vector<int> offsets;
  for (const int rank : ranks) {
    lengths.push_back(counts[rank]);
    offsets.push_back(static_cast<int>(blocks.of_rank(rank).first));
  }
  return mpi().Scatterv(vector, lengths.data(), offsets.data(), elements.type, receive,
                        counts[members.rank()], elements.type, 0, members.host_comm());
}

int alltoall_bytes(const Schedule& schedule, Members& members, const std::byte* out, std::byte* in,
                   std::uint64_t block_bytes) {
  if (schedule.form == Form::native) {
    InOrder order;
    const int code = members.in_order(schedule, order);
    if (code != MPI_SUCCESS) return code;
    return native_alltoall(order, out, in, block_bytes, members.buffers);
  }
  return linear_alltoall(members.comm(), members.ranks_in_order(schedule), schedule.max_sends, out,
                         in, block_bytes);
}

}  // namespace

bool fits(const Schedule& schedule, const Members& members, int root, std::uint64_t message_bytes) {
  if (schedule.num_hosts != members.num_hosts()) return false;
  if (root != kNoHost && members.host_of(root) != schedule.root) return false;
  const bool is_whole = schedule.operation == Operation::bcast ||
                        schedule.operation == Operation::reduce ||
                        schedule.operation == Operation::allreduce;
  const bool is_by_block = schedule.form == Form::linear || schedule.form == Form::ring ||
                           schedule.form == Form::two_level;
  // MPI counts what is in one message, or between two processes of a host, in an int.
  const auto num_ranks = static_cast<std::uint64_t>(members.num_ranks());
  const bool is_one_block = is_whole || (is_by_block && members.is_one_per_host());
  return message_bytes <= static_cast<std::uint64_t>(INT_MAX) / (is_one_block ? 1 : num_ranks);
}

bool commutes(MPI_Op op) {
  int result = 0;
  return mpi().Op_commutative(op, &result) == MPI_SUCCESS && result != 0;
}

int allgather(const Schedule& schedule, Members& members, const void* send, int send_count,
              MPI_Datatype send_type, void* receive, int receive_count,
              MPI_Datatype receive_type) noexcept {
  return guarded([&]() -> int {
    const auto num_ranks = static_cast<std::uint64_t>(members.num_ranks());
    const auto rank = static_cast<std::uint64_t>(members.rank());
    AsBytes all(receive, num_ranks, receive_count, receive_type, members.comm());
    if (const int code = all.open(); code != MPI_SUCCESS) return code;
    if (all.block_bytes() == 0) return MPI_SUCCESS;
    std::byte* all_bytes = nullptr;
    int code = MPI_SUCCESS;
    if (send == MPI_IN_PLACE) {
      code = all.to_receive_around(rank, members.buffers.in, all_bytes);
    } else {
      AsBytes own(send, 1, send_count, send_type, members.comm());
      const std::byte* own_bytes = nullptr;
      code = all.to_receive(members.buffers.in, all_bytes);
      if (code == MPI_SUCCESS) code = own.open();
      if (code == MPI_SUCCESS) code = own.to_send(members.buffers.out, own_bytes);
      if (code == MPI_SUCCESS) {
        std::memcpy(all_bytes + rank * all.block_bytes(), own_bytes, all.block_bytes());
      }
    }
    if (code != MPI_SUCCESS) return code;
    code = allgather_bytes(schedule, members, all_bytes, all.block_bytes());
    return code == MPI_SUCCESS ? all.received() : code;
  });
}

int allgatherv(const Schedule& schedule, Members& members, const void* send, int send_count,
               MPI_Datatype send_type, void* receive, std::span<const int> counts,
               std::span<const std::ptrdiff_t> offsets, MPI_Datatype receive_type) noexcept {
  return guarded([&]() -> int {
    Elements elements;
    if (const int code = elements_of(receive_type, 1, elements); code != MPI_SUCCESS) return code;
    std::vector<AsBytes> blocks;
    std::vector<std::uint64_t> lengths;
    std::vector<std::uint64_t> places{0};
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      void* block = static_cast<std::byte*>(receive) + elements.extent_bytes * offsets[rank];
      blocks.emplace_back(block, 1, counts[rank], receive_type, members.comm());
      if (const int code = blocks.back().open(); code != MPI_SUCCESS) return code;
      lengths.push_back(blocks.back().block_bytes());
      places.push_back(places.back() + lengths.back());
    }
    const bool is_direct = is_plain(receive_type) && is_consecutive(counts, offsets);
    std::byte* all =
        is_direct ? static_cast<std::byte*>(receive) + elements.extent_bytes * offsets.front()
                  : members.buffers.in.bytes(places.back());
    const auto rank = static_cast<std::size_t>(members.rank());
    int code = MPI_SUCCESS;
    if (send != MPI_IN_PLACE) {
      AsBytes own(send, 1, send_count, send_type, members.comm());
      code = own.open();
      if (code == MPI_SUCCESS) code = own.copy_out(all + places[rank]);
    } else if (!is_direct) {
      code = blocks[rank].copy_out(all + places[rank]);
    }
    if (code != MPI_SUCCESS) return code;
    if (schedule.form == Form::native) {
      InOrder order;
      if (code = members.in_order(schedule, order); code != MPI_SUCCESS) return code;
      code = native_allgatherv(order, all, places);
    } else {
      code = allgather_blocks(schedule, members, all, lengths);
    }
    for (std::size_t index = 0; code == MPI_SUCCESS && !is_direct && index < blocks.size();
         ++index) {
      code = blocks[index].copy_in(all + places[index]);
    }
    return code;
  });
}

int allreduce(const Schedule& schedule, Members& members, const void* send, void* receive,
              int count, MPI_Datatype type, MPI_Op op) noexcept {
  return guarded([&]() -> int {
    if (count == 0) return MPI_SUCCESS;
    if (schedule.form == Form::native) {
      InOrder order;
      const int code = members.in_order(schedule, order);
      if (code != MPI_SUCCESS) return code;
      return mpi().Allreduce(send, receive, count, type, op, order.comm);
    }
    Reduction reduction{.elements = {}, .op = op};
    int code = elements_of(type, static_cast<std::uint64_t>(count), reduction.elements);
    if (code != MPI_SUCCESS) return code;
    const void* own = send == MPI_IN_PLACE ? receive : send;
    if (members.is_one_per_host()) {
      return allreduce_between_hosts(schedule, members, reduction, own, receive);
    }
    const bool is_leader = members.is_leader(kNoHost);
    code = mpi().Reduce(is_leader && own == receive ? MPI_IN_PLACE : own, receive, count, type, op,
                        0, members.host_comm());
    if (code == MPI_SUCCESS && is_leader) {
      code = allreduce_between_hosts(schedule, members, reduction, receive, receive);
    }
    if (code != MPI_SUCCESS) return code;
    return mpi().Bcast(receive, count, type, 0, members.host_comm());
  });
}

int reduce_scatter(const Schedule& schedule, Members& members, const void* send, void* receive,
                   const int* counts, MPI_Datatype type, MPI_Op op) noexcept {
  return guarded([&]() -> int {
    std::vector<std::uint64_t> lengths(static_cast<std::size_t>(members.num_ranks()));
    std::uint64_t total = 0;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      lengths[rank] = static_cast<std::uint64_t>(counts[rank]);
      total += lengths[rank];
    }
    if (total == 0) return MPI_SUCCESS;
    Reduction reduction{.elements = {}, .op = op};
    int code = elements_of(type, total, reduction.elements);
    if (code != MPI_SUCCESS) return code;
    const void* own = send == MPI_IN_PLACE ? receive : send;
    Buffers& buffers = members.buffers;
    if (schedule.form == Form::native) {
      InOrder order;
      if (code = members.in_order(schedule, order); code != MPI_SUCCESS) return code;
      if (send == MPI_IN_PLACE) {
        void* copied = buffers.host.room_for(reduction.elements, total);
        if (code = copy(reduction.elements, own, copied, 0, total); code != MPI_SUCCESS)
          return code;
        own = copied;
      }
      return native_reduce_scatter(order, {counts, lengths.size()}, reduction, own, receive,
                                   buffers);
    }
    const HostBlocks blocks(members, lengths);
    const bool is_leader = members.is_leader(kNoHost);
    void* vector = is_leader ? buffers.order.room_for(reduction.elements, total) : nullptr;
    code = bring_together(members, reduction, blocks, own, vector);
    if (code == MPI_SUCCESS && is_leader) {
      code = reduce_scatter_between_hosts(schedule, members, reduction, vector, blocks);
    }
    if (code != MPI_SUCCESS) return code;
    return deal_out(members, reduction, blocks, vector, receive, counts);
  });
}

int alltoall(const Schedule& schedule, Members& members, const void* send, int send_count,
             MPI_Datatype send_type, void* receive, int receive_count,
             MPI_Datatype receive_type) noexcept {
  return guarded([&]() -> int {
    const auto num_ranks = static_cast<std::uint64_t>(members.num_ranks());
    const bool is_in_place = send == MPI_IN_PLACE;
    AsBytes in(receive, num_ranks, receive_count, receive_type, members.comm());
    AsBytes out(is_in_place ? receive : send, num_ranks, is_in_place ? receive_count : send_count,
                is_in_place ? receive_type : send_type, members.comm());
    if (const int code = in.open(); code != MPI_SUCCESS) return code;
    if (const int code = out.open(); code != MPI_SUCCESS) return code;
    const std::uint64_t num_bytes = num_ranks * in.block_bytes();
    if (num_bytes == 0) return MPI_SUCCESS;
    std::byte* in_bytes = nullptr;
    const std::byte* out_bytes = nullptr;
    int code = out.to_send(members.buffers.out, out_bytes);
    if (code == MPI_SUCCESS) code = in.to_receive(members.buffers.in, in_bytes);
    if (code != MPI_SUCCESS) return code;
    if (out_bytes == in_bytes) {
      std::byte* copied = members.buffers.order.bytes(num_bytes);
      std::memcpy(copied, out_bytes, num_bytes);
      out_bytes = copied;
    }
    code = alltoall_bytes(schedule, members, out_bytes, in_bytes, in.block_bytes());
    return code == MPI_SUCCESS ? in.received() : code;
  });
}

int barrier(const Schedule& schedule, Members& members) noexcept {
  return guarded([&]() -> int {
    if (schedule.form == Form::native) {
      InOrder order;
      const int code = members.in_order(schedule, order);
      return code == MPI_SUCCESS ? mpi().Barrier(order.comm) : code;
    }
    if (members.is_one_per_host()) return dissemination_barrier(schedule, members.team(kNoHost));
    if (const int code = mpi().Barrier(members.host_comm()); code != MPI_SUCCESS) return code;
    if (members.is_leader(kNoHost)) {
      const int code = dissemination_barrier(schedule, members.team(kNoHost));
      if (code != MPI_SUCCESS) return code;
    }
    return mpi().Barrier(members.host_comm());
  });
}

}  // namespace fairlead::collectives
