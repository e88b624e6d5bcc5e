// SPDX-License-Identifier: Apache-2.0
// The messages of forms in rounds: recursive doubling and dissemination; and of linear.
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <utility>

#include "collectives/programs/programs.hpp"

namespace fairlead::collectives {

Program linear_program(const Schedule& schedule, const BlockBytes& blocks) {
  assert(schedule.operation != Operation::allreduce);
  Program program;
  program.max_sends = schedule.max_sends;
  const std::size_t num_hosts = schedule.order.size();
  if (!has_root(schedule.operation)) {
    for (std::size_t step = 1; step < num_hosts; ++step) {
      for (std::size_t position = 0; position < num_hosts; ++position) {
        const std::int32_t src = schedule.order[position];
        const std::int32_t dst = schedule.order[(position + step) % num_hosts];
        program.add(src, dst, blocks[schedule.operation == Operation::allgather ? src : dst]);
      }
    }
    return program;
  }
  const bool is_scatter = schedule.operation == Operation::scatter;
  std::vector<std::int32_t> made;
  for (const std::int32_t host : schedule.order) {
    if (host == schedule.root) continue;
    made.push_back(is_scatter ? program.add(schedule.root, host, blocks[host])
                              : program.add(host, schedule.root, blocks[host]));
  }
  if (!is_scatter && schedule.max_sends > 0) {
    // The root holds them back by posting its receives one after the other.
    const auto window = static_cast<std::size_t>(schedule.max_sends);
    for (std::size_t number = window; number < made.size(); ++number) {
      program.add_dependency(made[number - window], made[number]);
    }
    program.max_sends = 0;
  }
  return program;
}

Program doubling_program(const Schedule& schedule) {
  Program program;
  const double num_bytes = static_cast<double>(schedule.message_bytes);
  const std::size_t num_hosts = schedule.order.size();
  const std::size_t num_paired = std::bit_floor(num_hosts);
  std::vector<std::int32_t> last(num_hosts, kNoTransfer);
  const auto send = [&](std::size_t src, std::size_t dst) {
    return program.add(schedule.order[src], schedule.order[dst], num_bytes);
  };
  for (std::size_t extra = num_paired; extra < num_hosts; ++extra) {
    last[extra - num_paired] = send(extra, extra - num_paired);
  }
  std::vector<std::int32_t> before(num_hosts, kNoTransfer);  // the other thing a position awaits
  for (std::size_t distance = 1; distance < num_paired; distance *= 2) {
    std::vector<std::int32_t> received(num_hosts, kNoTransfer);
    for (std::size_t position = 0; position < num_paired; ++position) {
      const std::size_t peer = position ^ distance;
      const std::int32_t made = send(position, peer);
      program.add_dependency(last[position], made);
      program.add_dependency(before[position], made);
      received[peer] = made;
    }
    before = std::move(last);
    last = std::move(received);
  }
  for (std::size_t extra = num_paired; extra < num_hosts; ++extra) {
    const std::int32_t made = send(extra - num_paired, extra);
    program.add_dependency(last[extra - num_paired], made);
  }
  return program;
}

Program dissemination_program(const Schedule& schedule, const BlockBytes& blocks) {
  Program program;
  const bool is_barrier = schedule.operation == Operation::barrier;
  const std::size_t num_hosts = schedule.order.size();
  // Position p holds the blocks from p on; where the first ones of those end.
  std::vector<double> end_bytes(2 * num_hosts + 1, 0.0);
  for (std::size_t position = 0; position < 2 * num_hosts && !is_barrier; ++position) {
    end_bytes[position + 1] = end_bytes[position] + blocks[schedule.order[position % num_hosts]];
  }
  std::vector<std::int32_t> last(num_hosts, kNoTransfer);
  for (std::size_t distance = 1; distance < num_hosts; distance *= 2) {
    const std::size_t num_blocks = std::min(distance, num_hosts - distance);
    std::vector<std::int32_t> received(num_hosts, kNoTransfer);
    for (std::size_t position = 0; position < num_hosts; ++position) {
      const std::size_t step = is_barrier ? distance : num_hosts - distance;
      const std::size_t peer = (position + step) % num_hosts;
      const std::int32_t made = program.add(schedule.order[position], schedule.order[peer],
                                            end_bytes[position + num_blocks] - end_bytes[position]);
      program.add_dependency(last[position], made);
      received[peer] = made;
    }
    last = std::move(received);
  }
  return schedule.operation == Operation::reduce_scatter ? reversed(program) : program;
}

}  // namespace fairlead::collectives
