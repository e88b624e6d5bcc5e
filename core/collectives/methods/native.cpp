// SPDX-License-Identifier: Apache-2.0
// The method native: the MPI's own algorithm, in the given order or that of a ring.
#include <numeric>
#include <utility>

#include "collectives/methods/methods.hpp"

namespace fairlead::collectives {

Schedule plan_native(const Problem& problem) {
  Schedule best;
  Schedule schedule = begun(problem, Form::native);
  schedule.order = near_order(problem);
  keep_faster(problem, schedule, best);
  if (problem.links.num_hosts() < kManyHosts) {
    std::iota(schedule.order.begin(), schedule.order.end(), 0);
    keep_faster(problem, std::move(schedule), best);
  }
  return best;
}

}  // namespace fairlead::collectives
