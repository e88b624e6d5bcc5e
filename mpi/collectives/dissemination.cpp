// SPDX-License-Identifier: Apache-2.0
// Rounds of doubling distance around an order: barrier, and allgather after Bruck et al., 1997;
// backwards, with halving distance, that is reduce_scatter.
#include <algorithm>
#include <bit>
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

/// Where the blocks of this position, the next, .. begin when they stand in this order, and where
/// the last ends.
std::vector<std::uint64_t> offsets_from(const Schedule& schedule, const Team& team, int position,
                                        Blocks layout) {
  std::vector<std::uint64_t> offsets{0};
  for (int index = 0; index < team.num_hosts(); ++index) {
    const auto host = static_cast<std::size_t>(host_at(schedule, team, position + index));
    offsets.push_back(offsets.back() + layout[host].length());
  }
  return offsets;
}

/// How many blocks pass in the round of a distance.
std::size_t num_blocks_at(int distance, const Team& team) {
  return static_cast<std::size_t>(std::min(distance, team.num_hosts() - distance));
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
  const std::vector<std::uint64_t> offsets = offsets_from(schedule, team, position, layout);
  std::byte* collected = buffers.work.bytes(offsets.back());
  std::memcpy(collected, blocks + layout[static_cast<std::size_t>(team.host)].first, offsets[1]);
  for (int distance = 1; distance < team.num_hosts(); distance *= 2) {
    const std::size_t num_blocks = num_blocks_at(distance, team);
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

int dissemination_reduce_scatter(const Schedule& schedule, const Team& team,
                                 const Reduction& reduction, void* vector, Blocks layout,
                                 Buffers& buffers) {
  const Elements& elements = reduction.elements;
  const int position = position_of(schedule, team);
  const std::vector<std::uint64_t> offsets = offsets_from(schedule, team, position, layout);
  void* sums = buffers.work.room_for(elements, offsets.back());
  for (int index = 0; index < team.num_hosts(); ++index) {
    const Block& block =
        layout[static_cast<std::size_t>(host_at(schedule, team, position + index))];
    const int code =
        copy(elements, elements.at(vector, block.first),
             elements.at(sums, offsets[static_cast<std::size_t>(index)]), 0, block.length());
    if (code != MPI_SUCCESS) return code;
  }
  const auto num_others = static_cast<unsigned>(team.num_hosts() - 1);
  const auto longest = static_cast<int>(std::bit_floor(num_others));
  void* arrived = buffers.slots.room_for(elements, offsets[static_cast<std::size_t>(longest)]);
  for (int distance = longest; distance > 0; distance /= 2) {
    const std::size_t num_blocks = num_blocks_at(distance, team);
    const auto first = static_cast<std::size_t>(distance);
    const int to = team.rank_of(host_at(schedule, team, position + distance));
    const int from = team.rank_of(host_at(schedule, team, position - distance));
    const auto num_arriving = static_cast<int>(offsets[num_blocks]);
    int code = mpi().Sendrecv(elements.at(sums, offsets[first]),
                              static_cast<int>(offsets[first + num_blocks] - offsets[first]),
                              elements.type, to, kTag, arrived, num_arriving, elements.type, from,
                              kTag, team.comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && num_arriving > 0) {
      code = mpi().Reduce_local(arrived, sums, num_arriving, elements.type, reduction.op);
    }
    if (code != MPI_SUCCESS) return code;
  }
  const Block& own = layout[static_cast<std::size_t>(team.host)];
  return copy(elements, sums, elements.at(vector, own.first), 0, own.length());
}

}  // namespace fairlead::collectives
