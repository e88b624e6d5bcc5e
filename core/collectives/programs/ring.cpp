// SPDX-License-Identifier: Apache-2.0
// The messages of a ring: parts of blocks from each position to the next.
#include <cstddef>

#include "collectives/programs/programs.hpp"

namespace fairlead::collectives {

Program ring_program(const Schedule& schedule, const BlockBytes& blocks) {
  const std::size_t num_hosts = schedule.order.size();
  const auto num_parts = static_cast<std::size_t>(schedule.num_parts);
  const bool is_allreduce = schedule.operation == Operation::allreduce;
  // An allreduce cuts its vector into equal blocks; a reduce_scatter begins with the block before.
  const double share_bytes =
      static_cast<double>(schedule.message_bytes) / static_cast<double>(num_hosts);
  const std::size_t first_block = schedule.operation == Operation::allgather ? 0 : 1;
  const auto block_bytes = [&](std::size_t step, std::size_t position) {
    const std::size_t block =
        (position + 2 * num_hosts - first_block - step % num_hosts) % num_hosts;
    return is_allreduce ? share_bytes : blocks[schedule.order[block]];
  };
  // As part_start() cuts it.
  const std::size_t num_shares = num_parts * (num_parts + 1) / 2;
  const auto part_ratio = [num_shares](std::size_t part) {
    return static_cast<double>(part + 1) / static_cast<double>(num_shares);
  };
  const std::size_t num_blocks = (num_hosts - 1) * (is_allreduce ? 2 : 1);
  const auto window = static_cast<std::size_t>(schedule.window);

  Program program;
  program.max_sends = schedule.max_sends;
  // Message `number` out of each position; the one with the same number less one block arrived from
  // the position before and is sent on.
  const std::size_t num_messages = num_blocks * num_parts;
  const auto index = [num_hosts](std::size_t number, std::size_t position) {
    return static_cast<std::int32_t>(number * num_hosts + position % num_hosts);
  };
  for (std::size_t number = 0; number < num_messages; ++number) {
    for (std::size_t position = 0; position < num_hosts; ++position) {
      const std::int32_t made =
          program.add(schedule.order[position], schedule.order[(position + 1) % num_hosts],
                      block_bytes(number / num_parts, position) * part_ratio(number % num_parts));
      if (number >= num_parts) {
        program.add_dependency(index(number - num_parts, position + num_hosts - 1), made);
      }
      if (number >= window * num_parts) {
        program.add_dependency(index(number - window * num_parts, position), made);
      }
    }
  }
  return program;
}

}  // namespace fairlead::collectives
