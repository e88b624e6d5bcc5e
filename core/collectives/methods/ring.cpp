// SPDX-License-Identifier: Apache-2.0
// The method ring, and its order, which other methods use as well.
#include <algorithm>
#include <utility>

#include "collectives/methods/methods.hpp"
#include "collectives/orders/orders.hpp"

namespace fairlead::collectives {
namespace {

std::vector<std::int32_t> ring_order_of(const Problem& problem, double block_bytes) {
  const auto num_blocks = static_cast<double>(problem.links.num_hosts() - 1);
  return ring_order(problem.links, problem.island_of_host, block_bytes,
                    num_blocks * (problem.request.operation == Operation::allreduce ? 2.0 : 1.0));
}

}  // namespace

std::vector<std::int32_t> near_order(const Problem& problem) {
  std::vector<std::int32_t> order = ring_order_of(problem, unrooted_block_bytes(problem));
  if (problem.request.root != kNoHost) {
    std::rotate(order.begin(), std::find(order.begin(), order.end(), problem.request.root),
                order.end());
  }
  return order;
}

Schedule plan_ring(const Problem& problem) {
  Schedule best;
  Schedule schedule = begun(problem, Form::ring);
  schedule.order = ring_order_of(problem, unrooted_block_bytes(problem));
  // One message at a time pays the latency of each; with more the next one's passes meanwhile. Of
  // three parts and more the time would not be predicted well.
  for (const auto& [window, num_parts] : {std::pair{2, 1}, {4, 1}, {2, 2}}) {
    schedule.window = window;
    schedule.num_parts = num_parts;
    keep_faster(problem, schedule, best);
    if (problem.links.num_hosts() >= kManyHosts) break;
  }
  return best;
}

}  // namespace fairlead::collectives
