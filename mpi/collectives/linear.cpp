// SPDX-License-Identifier: Apache-2.0
// Each block in one message, straight from the process that has it to the one that gets it.
#include <algorithm>
#include <cstring>

#include "forms.hpp"
#include "messages.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {
namespace {

std::size_t limit_of(int max_under_way, std::size_t num_messages) {
  if (max_under_way == 0) return num_messages;
  return std::min(num_messages, static_cast<std::size_t>(max_under_way));
}

/// Starts a message to or from each host of the order but the own, at most `max_sends` at once.
template <class Start>
int start_in_order(const Schedule& schedule, const Team& team, Messages& messages, Start start) {
  const std::size_t limit = limit_of(schedule.max_sends, schedule.order.size());
  std::size_t num_started = 0;
  for (const std::int32_t host : schedule.order) {
    if (host == team.host) continue;
    if (num_started++ >= limit) {
      MessageName name;
      if (const int code = messages.wait(name); code != MPI_SUCCESS) return code;
    }
    if (const int code = start(static_cast<std::size_t>(host)); code != MPI_SUCCESS) return code;
  }
  return messages.wait_for_all();
}

}  // namespace

int linear_scatter(const Schedule& schedule, const Team& team, const std::byte* blocks,
                   Blocks layout, std::byte* own) {
  const auto host = static_cast<std::size_t>(team.host);
  if (team.host != schedule.root) {
    return mpi().Recv(own, static_cast<int>(layout[host].length()), byte_type(),
                      team.rank_of(schedule.root), kTag, team.comm, MPI_STATUS_IGNORE);
  }
  Messages messages(team.comm, schedule.order.size());
  return start_in_order(schedule, team, messages, [&](std::size_t to) {
    return messages.send(blocks + layout[to].first, layout[to].length(), byte_type(),
                         team.rank_of(static_cast<int>(to)), kTag, {});
  });
}

int linear_gather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout,
                  const std::byte* own) {
  const auto host = static_cast<std::size_t>(team.host);
  if (team.host != schedule.root) {
    return mpi().Send(own, static_cast<int>(layout[host].length()), byte_type(),
                      team.rank_of(schedule.root), kTag, team.comm);
  }
  Messages messages(team.comm, schedule.order.size());
  return start_in_order(schedule, team, messages, [&](std::size_t from) {
    return messages.receive(blocks + layout[from].first, layout[from].length(), byte_type(),
                            team.rank_of(static_cast<int>(from)), kTag, {});
  });
}

int linear_alltoall(MPI_Comm comm, std::span<const int> order, int max_sends,
                    const std::byte* blocks, std::byte* received, std::uint64_t block_bytes) {
  int rank = 0;
  if (const int code = mpi().Comm_rank(comm, &rank); code != MPI_SUCCESS) return code;
  const std::size_t num_ranks = order.size();
  const auto found = std::find(order.begin(), order.end(), rank);
  const auto position = static_cast<std::size_t>(found - order.begin());
  const auto offset_of = [block_bytes](int of) { return block_bytes * static_cast<unsigned>(of); };
  std::memcpy(received + offset_of(rank), blocks + offset_of(rank), block_bytes);
  Messages messages(comm, 2 * num_ranks);
  for (std::size_t step = 1; step < num_ranks; ++step) {
    const int from = order[(position + num_ranks - step) % num_ranks];
    const int code = messages.receive(received + offset_of(from), block_bytes, byte_type(), from,
                                      kTag, {.edge = 0});
    if (code != MPI_SUCCESS) return code;
  }
  const std::size_t limit = limit_of(max_sends, num_ranks);
  std::size_t num_sends = 0;
  for (std::size_t step = 1; step < num_ranks; ++step) {
    while (num_sends >= limit) {
      MessageName name;
      if (const int code = messages.wait(name); code != MPI_SUCCESS) return code;
      num_sends -= name.edge == 1 ? 1 : 0;
    }
    const int to = order[(position + step) % num_ranks];
    const int code =
        messages.send(blocks + offset_of(to), block_bytes, byte_type(), to, kTag, {.edge = 1});
    if (code != MPI_SUCCESS) return code;
    ++num_sends;
  }
  return messages.wait_for_all();
}

}  // namespace fairlead::collectives
