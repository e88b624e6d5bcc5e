// SPDX-License-Identifier: Apache-2.0
// The collective operations by Bine trees and butterflies (bine.hpp).
#include "bine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "collectives.hpp"

namespace bench {
namespace {

using namespace bine;

/// Step at which rank `relative` of a tree gets its data, far partners first; -1 for the root.
int step_of(const Group& group, int relative) {
  std::vector<bool> has(static_cast<std::size_t>(group.num_ranks));
  has[0] = true;
  for (int step = group.num_steps - 1; step >= 0; --step) {
    auto next = has;
    for (int rank = 0; rank < group.num_ranks; ++rank)
      if (has[static_cast<std::size_t>(rank)])
        next[static_cast<std::size_t>(group.partner(rank, step))] = true;
    if (!has[static_cast<std::size_t>(relative)] && next[static_cast<std::size_t>(relative)])
      return step;
    has = std::move(next);
  }
  return group.num_steps;
}

int bcast_tree(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Group group(comm);
  const int relative = group.from_root(group.rank, root), mine = step_of(group, relative);
  for (int step = mine; step >= 0; --step) {
    if (step == group.num_steps) continue;
    const int peer = group.to_rank(group.partner(relative, step), root);
    if (step == mine)
      MPI_Recv(buffer, count, type, peer, kTag, comm, MPI_STATUS_IGNORE);
    else
      MPI_Send(buffer, count, type, peer, kTag, comm);
  }
  return MPI_SUCCESS;
}

int reduce_tree(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm) {
  const Group group(comm);
  const int relative = group.from_root(group.rank, root), mine = step_of(group, relative);
  const std::size_t bytes = bytes_of(count, type);
  std::vector<char> sum(static_cast<const char*>(out), static_cast<const char*>(out) + bytes);
  std::vector<char> other(bytes);
  for (int step = 0; step <= mine && step < group.num_steps; ++step) {
    const int peer = group.to_rank(group.partner(relative, step), root);
    if (step == mine) return MPI_Send(sum.data(), count, type, peer, kTag, comm);
    MPI_Recv(other.data(), count, type, peer, kTag, comm, MPI_STATUS_IGNORE);
    MPI_Reduce_local(other.data(), sum.data(), count, type, op);
  }
  std::memcpy(in, sum.data(), bytes);
  return MPI_SUCCESS;
}

/// Blocks of the subtree below a rank, itself among them, when it has got its data at `step`.
std::vector<int> subtree(const Group& group, int relative, int step) {
  std::vector<int> result{relative};
  for (int later = step - 1; later >= 0; --later) {
    const auto below = subtree(group, group.partner(relative, later), later);
    result.insert(result.end(), below.begin(), below.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Blocks by relative rank go down the tree; `data` holds all at the root, and its own elsewhere.
void scatter_blocks(const Group& group, int root, Blocks blocks, std::vector<char>& data) {
  const int relative = group.from_root(group.rank, root), mine = step_of(group, relative);
  if (mine < group.num_steps) {
    const auto numbers = subtree(group, relative, mine);
    std::vector<char> message(blocks.bytes * numbers.size());
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_BYTE,
             group.to_rank(group.partner(relative, mine), root), kTag, group.comm,
             MPI_STATUS_IGNORE);
    blocks.unpack(message, data, numbers);
  }
  for (int step = std::min(mine, group.num_steps) - 1; step >= 0; --step) {
    const int peer = group.partner(relative, step);
    const auto message = blocks.packed(data, subtree(group, peer, step));
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, group.to_rank(peer, root),
             kTag, group.comm);
  }
}

/// The same upwards: `data` holds all blocks by relative rank at the root in the end.
void collect_blocks(const Group& group, int root, Blocks blocks, std::vector<char>& data) {
  const int relative = group.from_root(group.rank, root), mine = step_of(group, relative);
  for (int step = 0; step < std::min(mine, group.num_steps); ++step) {
    const int peer = group.partner(relative, step);
    const auto numbers = subtree(group, peer, step);
    std::vector<char> message(blocks.bytes * numbers.size());
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_BYTE, group.to_rank(peer, root),
             kTag, group.comm, MPI_STATUS_IGNORE);
    blocks.unpack(message, data, numbers);
  }
  if (mine < group.num_steps) {
    const auto message = blocks.packed(data, subtree(group, relative, mine));
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE,
             group.to_rank(group.partner(relative, mine), root), kTag, group.comm);
  }
}

/// Blocks of the root's buffer in the order of relative ranks, or back again.
std::vector<int> blocks_by_relative_rank(const Group& group, int root) {
  std::vector<int> result;
  for (int relative = 0; relative < group.num_ranks; ++relative)
    result.push_back(group.to_rank(relative, root));
  return result;
}

int bcast_split(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Group group(comm);
  const std::size_t bytes = bytes_of(count, type);
  Dealt dealt(group, group.rank == root ? buffer : nullptr, bytes, 1);
  scatter_blocks(group, root, dealt.blocks, dealt.data);
  gather_blocks(group, root, Holdings(group), dealt.blocks, dealt.data);
  std::memcpy(buffer, dealt.data.data(), bytes);
  return MPI_SUCCESS;
}

int reduce_split(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm) {
  const Group group(comm);
  const std::size_t bytes = bytes_of(count, type);
  Dealt dealt(group, out, bytes, static_cast<std::size_t>(size_of(type)));
  reduce_blocks(group, Holdings(group), dealt.blocks, type, op, dealt.data);
  std::vector<char> turned(dealt.data.size());
  const int relative = group.from_root(group.rank, root);
  std::memcpy(dealt.blocks.at(turned, relative), dealt.blocks.at(dealt.data, group.rank),
              dealt.blocks.bytes);
  collect_blocks(group, root, dealt.blocks, turned);
  if (group.rank == root) {
    dealt.blocks.unpack(turned, dealt.data, blocks_by_relative_rank(group, root));
    std::memcpy(in, dealt.data.data(), bytes);
  }
  return MPI_SUCCESS;
}

int allreduce_whole(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm) {
  const Group group(comm);
  const std::size_t bytes = bytes_of(count, type);
  std::vector<char> sum(static_cast<const char*>(out), static_cast<const char*>(out) + bytes);
  std::vector<char> other(bytes);
  for (int step = 0; step < group.num_steps; ++step) {
    exchange(group, group.partner(group.rank, step), sum, other);
    MPI_Reduce_local(other.data(), sum.data(), count, type, op);
  }
  std::memcpy(in, sum.data(), bytes);
  return MPI_SUCCESS;
}

int allreduce_split(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm) {
  const Group group(comm);
  const Holdings holdings(group);
  const std::size_t bytes = bytes_of(count, type);
  Dealt dealt(group, out, bytes, static_cast<std::size_t>(size_of(type)));
  reduce_blocks(group, holdings, dealt.blocks, type, op, dealt.data);
  gather_blocks(group, 0, holdings, dealt.blocks, dealt.data);
  std::memcpy(in, dealt.data.data(), bytes);
  return MPI_SUCCESS;
}

int scatter(const void* out, int, MPI_Datatype, void* in, int count, MPI_Datatype type, int root,
            MPI_Comm comm) {
  const Group group(comm);
  const Blocks blocks{bytes_of(count, type)};
  std::vector<char> data(blocks.bytes * static_cast<std::size_t>(group.num_ranks));
  if (group.rank == root) {
    std::vector<char> all(static_cast<const char*>(out),
                          static_cast<const char*>(out) + data.size());
    data = blocks.packed(all, blocks_by_relative_rank(group, root));
  }
  scatter_blocks(group, root, blocks, data);
  std::memcpy(in, blocks.at(data, group.from_root(group.rank, root)), blocks.bytes);
  return MPI_SUCCESS;
}

int gather(const void* out, int count, MPI_Datatype type, void* in, int, MPI_Datatype, int root,
           MPI_Comm comm) {
  const Group group(comm);
  const Blocks blocks{bytes_of(count, type)};
  std::vector<char> data(blocks.bytes * static_cast<std::size_t>(group.num_ranks));
  std::memcpy(blocks.at(data, group.from_root(group.rank, root)), out, blocks.bytes);
  collect_blocks(group, root, blocks, data);
  if (group.rank == root) {
    std::vector<char> all(data.size());
    blocks.unpack(data, all, blocks_by_relative_rank(group, root));
    std::memcpy(in, all.data(), all.size());
  }
  return MPI_SUCCESS;
}

int allgather(const void* out, int count, MPI_Datatype type, void* in, int, MPI_Datatype,
              MPI_Comm comm) {
  const Group group(comm);
  const Blocks blocks{bytes_of(count, type)};
  std::vector<char> data(blocks.bytes * static_cast<std::size_t>(group.num_ranks));
  std::memcpy(blocks.at(data, group.rank), out, blocks.bytes);
  gather_blocks(group, 0, Holdings(group), blocks, data);
  std::memcpy(in, data.data(), data.size());
  return MPI_SUCCESS;
}

int reduce_scatter(const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  const Group group(comm);
  const Blocks blocks{bytes_of(counts[0], type)};
  const auto* first = static_cast<const char*>(out);
  std::vector<char> data(first, first + blocks.bytes * static_cast<std::size_t>(group.num_ranks));
  reduce_blocks(group, Holdings(group), blocks, type, op, data);
  std::memcpy(in, blocks.at(data, group.rank), blocks.bytes);
  return MPI_SUCCESS;
}

/// What a rank holds in the course of an alltoall: blocks by their way, source * N + destination.
struct Held {
  std::vector<int> ways;
  std::vector<char> data;
};

/// Those of `held` that go to one of `destinations`, or the others.
Held chosen(Held& held, Blocks blocks, const std::vector<int>& destinations, int num_ranks,
            bool is_wanted) {
  Held result;
  std::vector<int> positions;
  for (std::size_t index = 0; index < held.ways.size(); ++index) {
    const bool goes_there =
        std::binary_search(destinations.begin(), destinations.end(), held.ways[index] % num_ranks);
    if (goes_there != is_wanted) continue;
    positions.push_back(static_cast<int>(index));
    result.ways.push_back(held.ways[index]);
  }
  result.data = blocks.packed(held.data, positions);
  return result;
}

/// log2 N exchanges of half the data each: what goes to ranks on the partner's side of the
/// butterfly goes to the partner, with a list of the ways.
int alltoall(const void* out, int count, MPI_Datatype type, void* in, int, MPI_Datatype,
             MPI_Comm comm) {
  const Group group(comm);
  const Holdings holdings(group);
  const Blocks blocks{bytes_of(count, type)};
  const auto num_ranks = static_cast<std::size_t>(group.num_ranks);
  const auto* first = static_cast<const char*>(out);
  Held held{.ways = {}, .data = std::vector<char>(first, first + blocks.bytes * num_ranks)};
  for (int destination = 0; destination < group.num_ranks; ++destination)
    held.ways.push_back(group.rank * group.num_ranks + destination);
  for (int step = 0, done = group.num_steps - 1; step < group.num_steps; ++step, --done) {
    const int peer = group.partner(group.rank, step);
    const auto& theirs = holdings.after(done, peer);
    const Held leaving = chosen(held, blocks, theirs, group.num_ranks, true);
    Held staying = chosen(held, blocks, theirs, group.num_ranks, false);
    Held coming{.ways = std::vector<int>(leaving.ways.size()),
                .data = std::vector<char>(leaving.data.size())};
    const auto num_ways = static_cast<int>(leaving.ways.size());
    MPI_Sendrecv(leaving.ways.data(), num_ways, MPI_INT, peer, kTag, coming.ways.data(), num_ways,
                 MPI_INT, peer, kTag, comm, MPI_STATUS_IGNORE);
    exchange(group, peer, leaving.data, coming.data);
    staying.ways.insert(staying.ways.end(), coming.ways.begin(), coming.ways.end());
    staying.data.insert(staying.data.end(), coming.data.begin(), coming.data.end());
    held = std::move(staying);
  }
  for (std::size_t index = 0; index < num_ranks; ++index)
    std::memcpy(static_cast<char*>(in) +
                    blocks.bytes * static_cast<std::size_t>(held.ways[index] / group.num_ranks),
                held.data.data() + blocks.bytes * index, blocks.bytes);
  return MPI_SUCCESS;
}

int barrier(MPI_Comm comm) {
  const int mine = 0;
  int all = 0;
  return allreduce_whole(&mine, &all, 1, MPI_INT, MPI_MAX, comm);
}

using Bcast = int (*)(void*, int, MPI_Datatype, int root, MPI_Comm);
using Reduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, int root, MPI_Comm);
using Allreduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

fairlead::tune::Calls calls_on(MPI_Comm comm, Bcast bcast, Reduce reduce, Allreduce allreduce) {
  return {
      .bcast = [=](void* buffer, int count, MPI_Datatype type,
                   int root) { return bcast(buffer, count, type, root, comm); },
      .reduce = [=](const void* out, void* in, int count, MPI_Datatype type, MPI_Op op,
                    int root) { return reduce(out, in, count, type, op, root, comm); },
      .gather = [=](const void* out, void* in, int count, MPI_Datatype type,
                    int root) { return gather(out, count, type, in, count, type, root, comm); },
      .scatter = [=](const void* out, void* in, int count, MPI_Datatype type,
                     int root) { return scatter(out, count, type, in, count, type, root, comm); },
      .allgather =
          [=](const void* out, void* in, int count, MPI_Datatype type) {
            return allgather(out, count, type, in, count, type, comm);
          },
      .allreduce = [=](const void* out, void* in, int count, MPI_Datatype type,
                       MPI_Op op) { return allreduce(out, in, count, type, op, comm); },
      .reduce_scatter = [=](const void* out, void* in, const int* counts, MPI_Datatype type,
                            MPI_Op op) { return reduce_scatter(out, in, counts, type, op, comm); },
      .alltoall =
          [=](const void* out, void* in, int count, MPI_Datatype type) {
            return alltoall(out, count, type, in, count, type, comm);
          },
      .barrier = [=] { return barrier(comm); },
  };
}

}  // namespace

fairlead::tune::Calls bine_small(MPI_Comm comm) {
  return calls_on(comm, bcast_tree, reduce_tree, allreduce_whole);
}

fairlead::tune::Calls bine_large(MPI_Comm comm) {
  return calls_on(comm, bcast_split, reduce_split, allreduce_split);
}

}  // namespace bench
