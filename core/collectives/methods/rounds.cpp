// SPDX-License-Identifier: Apache-2.0
#include "collectives/methods/rounds.hpp"

#include <numeric>
#include <utility>

namespace fairlead::collectives {

Schedule in_rounds(const Problem& problem, Form form, Rounds rounds) {
  Schedule best;
  const double bytes =
      problem.request.operation == Operation::barrier ? 0.0 : largest_block_bytes(problem.request);
  std::vector<std::int32_t> as_given(problem.links.num_hosts());
  std::iota(as_given.begin(), as_given.end(), 0);
  for (std::vector<std::int32_t> start : {as_given, near_order(problem)}) {
    Schedule schedule = begun(problem, form);
    schedule.order = rounds_order(problem.links, rounds, bytes, std::move(start));
    keep_faster(problem, std::move(schedule), best);
  }
  return best;
}

}  // namespace fairlead::collectives
