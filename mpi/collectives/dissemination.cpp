// SPDX-License-Identifier: Apache-2.0
// Rounds of doubling distance around an order: barrier, and allgather after Bruck et al., 1997.
#include <algorithm>
#include <cstring>

#include "forms.hpp"
#include "mpi_calls.hpp"

namespace fairlead::collectives {
namespace {

int position_of(const Schedule& schedule, const Team& team) {
  const auto found = std::find(schedule.order.begin(), schedule.order.end(), team.host);
  return static_cast<int>(found - schedule.order.begin());
}

std::int32_t host_at(const Schedule& schedule, const Team& team, int position) {
  const int turned = (position % team.num_hosts() + team.num_hosts()) % team.num_hosts();
  return schedule.order[static_cast<std::size_t>(turned)];
}

}  // namespace

int dissemination_barrier(const Schedule& schedule, const Team& team) {
  const int position = position_of(schedule, team);
  for (int distance = 1; distance < team.num_hosts(); distance *= 2) {
    const int to = team.rank_of(host_at(schedule, team, position + distance));
    const int from = team.rank_of(host_at(schedule, team, position - distance));
    const int code = mpi().Sendrecv(nullptr, 0, byte_type(), to, kTag, nullptr, 0, byte_type(),
                                    from, kTag, team.comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int dissemination_allgather(const Schedule& schedule, const Team& team, std::byte* blocks,
                            Blocks layout, Buffers& buffers) {
  const int position = position_of(schedule, team);
  // Where the blocks of this position, the next, .. begin in the order in which they are collected.
  std::vector<std::uint64_t> offsets{0};
  for (int index = 0; index < team.num_hosts(); ++index) {
    const auto host = static_cast<std::size_t>(host_at(schedule, team, position + index));
    offsets.push_back(offsets.back() + layout[host].length());
  }
  std::byte* collected = buffers.work.bytes(offsets.back());
  std::memcpy(collected, blocks + layout[static_cast<std::size_t>(team.host)].first, offsets[1]);
  for (int distance = 1; distance < team.num_hosts(); distance *= 2) {
    const auto num_blocks =
        static_cast<std::size_t>(std::min(distance, team.num_hosts() - distance));
    const auto first = static_cast<std::size_t>(distance);
    const int to = team.rank_of(host_at(schedule, team, position - distance));
    const int from = team.rank_of(host_at(schedule, team, position + distance));
    const int code = mpi().Sendrecv(collected, static_cast<int>(offsets[num_blocks]), byte_type(),
                                    to, kTag, collected + offsets[first],
                                    static_cast<int>(offsets[first + num_blocks] - offsets[first]),
                                    byte_type(), from, kTag, team.comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
  }
  for (int index = 1; index < team.num_hosts(); ++index) {
    const auto host = static_cast<std::size_t>(host_at(schedule, team, position + index));
    const auto place = static_cast<std::size_t>(index);
    std::memcpy(blocks + layout[host].first, collected + offsets[place],
                offsets[place + 1] - offsets[place]);
  }
  return MPI_SUCCESS;
}

}  // namespace fairlead::collectives
