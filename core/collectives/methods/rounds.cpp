// SPDX-License-Identifier: Apache-2.0
// The methods in rounds, doubling and dissemination: an order in which rounds are short.
#include <numeric>
#include <utility>

#include "collectives/methods/methods.hpp"
#include "collectives/orders/orders.hpp"

namespace fairlead::collectives {
namespace {

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

}  // namespace

Schedule plan_doubling(const Problem& problem) {
  return in_rounds(problem, Form::doubling, Rounds::doubling);
}

Schedule plan_dissemination(const Problem& problem) {
  const Operation operation = problem.request.operation;
  const Rounds rounds = operation == Operation::barrier     ? Rounds::dissemination
                        : operation == Operation::allgather ? Rounds::bruck
                                                            : Rounds::bruck_back;
  return in_rounds(problem, Form::dissemination, rounds);
}

}  // namespace fairlead::collectives
