// SPDX-License-Identifier: Apache-2.0
// One tree whose edges carry the blocks of whole subtrees (CMPI, Algorithm 4).
#include <cstring>

#include "forms.hpp"
#include "messages.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {
namespace {

std::size_t index_of(std::int32_t number) {
  return static_cast<std::size_t>(number);
}

std::uint64_t bytes_at(Blocks layout, std::int32_t host) {
  return layout[index_of(host)].length();
}

using Children = std::vector<std::vector<std::int32_t>>;

/// The host, then the subtrees of its children in their order.
void append_subtree(const Children& children, std::int32_t host, std::vector<std::int32_t>& hosts) {
  hosts.push_back(host);
  for (const std::int32_t child : children[index_of(host)]) append_subtree(children, child, hosts);
}

std::vector<std::int32_t> subtree_of(const Children& children, std::int32_t host) {
  std::vector<std::int32_t> hosts;
  append_subtree(children, host, hosts);
  return hosts;
}

std::uint64_t bytes_of_hosts(std::span<const std::int32_t> hosts, Blocks layout) {
  std::uint64_t sum = 0;
  for (const std::int32_t host : hosts) sum += bytes_at(layout, host);
  return sum;
}

/// What the children's subtrees hold lies behind this process's block, one after another.
template <class Start>
int start_with_children(const Children& children, const Team& team, Blocks layout, Start start) {
  std::uint64_t offset = bytes_at(layout, team.host);
  for (const std::int32_t child : children[index_of(team.host)]) {
    const std::uint64_t num_bytes = bytes_of_hosts(subtree_of(children, child), layout);
    if (const int code = start(offset, num_bytes, team.rank_of(child)); code != MPI_SUCCESS) {
      return code;
    }
    offset += num_bytes;
  }
  return MPI_SUCCESS;
}

}  // namespace

int split_tree_scatter(const Schedule& schedule, const Team& team, const std::byte* blocks,
                       Blocks layout, std::byte* own, Buffers& buffers) {
  const Children children = children_of_host(schedule.trees[0]);
  const auto hosts = subtree_of(children, team.host);
  const std::uint64_t num_bytes = bytes_of_hosts(hosts, layout);
  std::byte* message = buffers.work.bytes(num_bytes);
  if (team.host == schedule.root) {
    std::uint64_t offset = 0;
    for (const std::int32_t host : hosts) {
      std::memcpy(message + offset, blocks + layout[index_of(host)].first, bytes_at(layout, host));
      offset += bytes_at(layout, host);
    }
  } else {
    const int parent = schedule.trees[0][index_of(team.host)];
    const int code = mpi().Recv(message, static_cast<int>(num_bytes), byte_type(),
                                team.rank_of(parent), kTag, team.comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    std::memcpy(own, message, bytes_at(layout, team.host));
  }
  Messages messages(team.comm, children[index_of(team.host)].size());
  const int code = start_with_children(
      children, team, layout, [&](std::uint64_t offset, std::uint64_t length, int rank) {
        return messages.send(message + offset, length, byte_type(), rank, kTag, {});
      });
  return code == MPI_SUCCESS ? messages.wait_for_all() : code;
}

int split_tree_gather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout,
                      const std::byte* own, Buffers& buffers) {
  const Children children = children_of_host(schedule.trees[0]);
  const auto hosts = subtree_of(children, team.host);
  const std::uint64_t num_bytes = bytes_of_hosts(hosts, layout);
  std::byte* message = buffers.work.bytes(num_bytes);
  Messages messages(team.comm, children[index_of(team.host)].size());
  int code = start_with_children(
      children, team, layout, [&](std::uint64_t offset, std::uint64_t length, int rank) {
        return messages.receive(message + offset, length, byte_type(), rank, kTag, {});
      });
  if (code == MPI_SUCCESS) code = messages.wait_for_all();
  if (code != MPI_SUCCESS) return code;
  if (team.host != schedule.root) {
    std::memcpy(message, own, bytes_at(layout, team.host));
    const int parent = schedule.trees[0][index_of(team.host)];
    return mpi().Send(message, static_cast<int>(num_bytes), byte_type(), team.rank_of(parent), kTag,
                      team.comm);
  }
  std::uint64_t offset = bytes_at(layout, team.host);
  for (std::size_t index = 1; index < hosts.size(); ++index) {
    const std::uint64_t length = bytes_at(layout, hosts[index]);
    std::memcpy(blocks + layout[index_of(hosts[index])].first, message + offset, length);
    offset += length;
  }
  return MPI_SUCCESS;
}

}  // namespace fairlead::collectives
