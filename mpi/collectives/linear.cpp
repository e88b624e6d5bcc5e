// SPDX-License-Identifier: Apache-2.0
// Each block in one message, straight from the process that has it to the one that gets it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "forms.hpp"
#include "messages.hpp"
#include "mpi_calls.hpp"
#include "ordered_sum.hpp"

namespace fairlead::collectives {
namespace {

std::size_t limit_of(int max_under_way, std::size_t num_messages) {
  if (max_under_way == 0) return num_messages;
  return std::min(num_messages, static_cast<std::size_t>(max_under_way));
}

/// Starts a message to or from each other host of the order, at most `max_sends` at once.
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

enum Direction : int { incoming, outgoing };

/// A message to and from each other process, all receives posted first. That of step s goes s
/// positions further on, and comes from s positions before.
/// @param receive, send  (messages, step), which name it by one of `Direction` and the step
/// @param take  (step) of a message that has arrived
template <class Receive, class Send, class Take>
int exchange_with_all(MPI_Comm comm, std::size_t num_processes, int max_sends, Receive receive,
                      Send send, Take take) {
  Messages messages(comm, 2 * num_processes);
  for (std::size_t step = 1; step < num_processes; ++step) {
    if (const int code = receive(messages, step); code != MPI_SUCCESS) return code;
  }
  const std::size_t limit = limit_of(max_sends, num_processes);
  std::size_t num_sends = 0;
  for (std::size_t next = 1;;) {
    for (; next < num_processes && num_sends < limit; ++next, ++num_sends) {
      if (const int code = send(messages, next); code != MPI_SUCCESS) return code;
    }
    if (!messages.is_any_under_way()) return MPI_SUCCESS;
    MessageName name;
    if (const int code = messages.wait(name); code != MPI_SUCCESS) return code;
    if (name.edge == outgoing) {
      --num_sends;
    } else if (const int code = take(static_cast<std::size_t>(name.number)); code != MPI_SUCCESS) {
      return code;
    }
  }
}

MessageName named(Direction direction, std::size_t step) {
  return {.edge = direction, .number = static_cast<int>(step)};
}

int take_nothing(std::size_t) {
  return MPI_SUCCESS;
}

/// Hosts or ranks around a circle, seen from one of them.
class Circle {
 public:
  Circle(std::span<const std::int32_t> order, std::int32_t own)
      : order_(order),
        position_(
            static_cast<std::size_t>(std::find(order.begin(), order.end(), own) - order.begin())) {}

  [[nodiscard]] std::int32_t after(std::size_t step) const {
    return order_[(position_ + step) % order_.size()];
  }
  [[nodiscard]] std::int32_t before(std::size_t step) const {
    return order_[(position_ + order_.size() - step) % order_.size()];
  }

 private:
  std::span<const std::int32_t> order_;
  std::size_t position_;
};

/// `vector` holds this process's block at first, and all in the end.
/// @param elements  those of the vector; their number does not count
int gather_from_all(const Schedule& schedule, const Team& team, const Elements& elements,
                    void* vector, Blocks layout) {
  const Circle circle(schedule.order, team.host);
  const auto block_of = [layout](std::int32_t host) {
    return layout[static_cast<std::size_t>(host)];
  };
  return exchange_with_all(
      team.comm, schedule.order.size(), schedule.max_sends,
      [&](Messages& messages, std::size_t step) {
        const std::int32_t from = circle.before(step);
        const Block block = block_of(from);
        return messages.receive(elements.at(vector, block.first), block.length(), elements.type,
                                team.rank_of(from), kTag, named(incoming, step));
      },
      [&](Messages& messages, std::size_t step) {
        const Block own = block_of(team.host);
        return messages.send(elements.at(vector, own.first), own.length(), elements.type,
                             team.rank_of(circle.after(step)), kTag, named(outgoing, step));
      },
      take_nothing);
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

int linear_allgather(const Schedule& schedule, const Team& team, std::byte* blocks, Blocks layout) {
  return gather_from_all(schedule, team, bytes_of(0), blocks, layout);
}

int linear_reduce_scatter(const Schedule& schedule, const Team& team, const Reduction& reduction,
                          void* vector, Blocks layout, Buffers& buffers) {
  const Circle circle(schedule.order, team.host);
  const Elements& elements = reduction.elements;
  const Block own = layout[static_cast<std::size_t>(team.host)];
  const std::size_t num_others = schedule.order.size() - 1;
  OrderedSum sum(reduction, elements.at(vector, own.first), own.length(), num_others,
                 buffers.slots.room_for(elements, num_others * own.length()));
  return exchange_with_all(
      team.comm, schedule.order.size(), schedule.max_sends,
      [&](Messages& messages, std::size_t step) {
        return messages.receive(sum.slot(step - 1), own.length(), elements.type,
                                team.rank_of(circle.before(step)), kTag, named(incoming, step));
      },
      [&](Messages& messages, std::size_t step) {
        const std::int32_t to = circle.after(step);
        const Block block = layout[static_cast<std::size_t>(to)];
        return messages.send(elements.at(vector, block.first), block.length(), elements.type,
                             team.rank_of(to), kTag, named(outgoing, step));
      },
      [&](std::size_t step) { return sum.take(step - 1); });
}

int linear_allreduce(const Schedule& schedule, const Team& team, const Reduction& reduction,
                     void* vector, Buffers& buffers) {
  const std::vector<Block> layout = equal_blocks(team.num_hosts(), reduction.elements.count);
  // A message of the second half cannot be taken for one of the first: those between two hosts
  // arrive in their order.
  const int code = linear_reduce_scatter(schedule, team, reduction, vector, layout, buffers);
  if (code != MPI_SUCCESS) return code;
  return gather_from_all(schedule, team, reduction.elements, vector, layout);
}

int linear_alltoall(MPI_Comm comm, std::span<const int> order, int max_sends,
                    const std::byte* blocks, std::byte* received, std::uint64_t block_bytes) {
  int rank = 0;
  if (const int code = mpi().Comm_rank(comm, &rank); code != MPI_SUCCESS) return code;
  const Circle circle(order, rank);
  const auto offset_of = [block_bytes](int of) { return block_bytes * static_cast<unsigned>(of); };
  std::memcpy(received + offset_of(rank), blocks + offset_of(rank), block_bytes);
  return exchange_with_all(
      comm, order.size(), max_sends,
      [&](Messages& messages, std::size_t step) {
        const int from = circle.before(step);
        return messages.receive(received + offset_of(from), block_bytes, byte_type(), from, kTag,
                                named(incoming, step));
      },
      [&](Messages& messages, std::size_t step) {
        const int to = circle.after(step);
        return messages.send(blocks + offset_of(to), block_bytes, byte_type(), to, kTag,
                             named(outgoing, step));
      },
      take_nothing);
}

}  // namespace fairlead::collectives
