// SPDX-License-Identifier: Apache-2.0
// The paper CMPI's collectives: its Algorithm 3 for bcast and reduce, 4 for gather and scatter.
#include "collectives/cmpi/gather_tree.hpp"
#include "collectives/cmpi/leaders.hpp"
#include "collectives/methods/methods.hpp"
#include "fairlead/collectives/hierarchy.hpp"

namespace fairlead::collectives {

Schedule plan_cmpi(const Problem& problem) {
  const Request& request = problem.request;
  const Hierarchy hierarchy =
      build_hierarchy(problem.network, {.message_bytes = largest_block_bytes(request),
                                        .factor = request.hierarchy_factor,
                                        .max_span = request.hierarchy_max_span});
  const bool is_tree = is_supported(request.operation, Form::split_tree);
  Schedule schedule = begun(problem, is_tree ? Form::split_tree : Form::levels);
  if (is_tree) {
    schedule.trees = {gather_tree(hierarchy, schedule.num_hosts, request.root,
                                  request.operation == Operation::gather)};
  } else {
    const auto levels = groups_of_leaders(hierarchy, schedule.num_hosts, request.root);
    schedule.levels.assign(levels.rbegin(), levels.rend());
    if (schedule.levels.empty()) schedule.levels = {{{request.root}}};
  }
  Schedule best;
  keep_faster(problem, std::move(schedule), best);
  return best;
}

}  // namespace fairlead::collectives
