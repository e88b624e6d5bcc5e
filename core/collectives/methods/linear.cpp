// SPDX-License-Identifier: Apache-2.0
// The method linear: each block in one message, all of them at once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "collectives/methods/methods.hpp"

namespace fairlead::collectives {
namespace {

/// Messages under way at the root, tried in turn; 0: all of them. On 32 hosts of `mesh`, with all
/// at once those of the slowest pairs end alone, up to 2 % after the rest; with one of these limits
/// 0.1 %.
constexpr std::array kMaxSends{0, 8, 24};

}  // namespace

Schedule linear_as_given(const Problem& problem) {
  Schedule schedule = begun(problem, Form::linear);
  schedule.order.resize(problem.links.num_hosts());
  std::iota(schedule.order.begin(), schedule.order.end(), 0);
  return schedule;
}

Schedule plan_linear(const Problem& problem) {
  Schedule schedule = linear_as_given(problem);
  if (problem.request.root != kNoHost) {
    // The longest ways first.
    const auto root = static_cast<std::size_t>(problem.request.root);
    const bool is_scatter = problem.request.operation == Operation::scatter;
    const double bytes = largest_block_bytes(problem.request);
    const auto took_s = [&](std::int32_t host) {
      const auto other = static_cast<std::size_t>(host);
      if (other == root) return 0.0;
      return is_scatter ? problem.links.transfer_s(root, other, bytes)
                        : problem.links.transfer_s(other, root, bytes);
    };
    std::stable_sort(
        schedule.order.begin(), schedule.order.end(),
        [&](std::int32_t left, std::int32_t right) { return took_s(left) > took_s(right); });
  }
  Schedule best;
  for (const std::int32_t max_sends : kMaxSends) {
    schedule.max_sends = max_sends;
    keep_faster(problem, schedule, best);
    if (problem.request.root == kNoHost || problem.links.num_hosts() >= kManyHosts) break;
  }
  return best;
}

}  // namespace fairlead::collectives
