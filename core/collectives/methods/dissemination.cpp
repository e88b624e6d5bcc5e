// SPDX-License-Identifier: Apache-2.0
// Dissemination, for blocks after Bruck et al. 1997: each round sends to one host of the order and
// receives from another.
#include "collectives/methods/rounds.hpp"

namespace fairlead::collectives {

Schedule plan_dissemination(const Problem& problem) {
  const Operation operation = problem.request.operation;
  const Rounds rounds = operation == Operation::barrier     ? Rounds::dissemination
                        : operation == Operation::allgather ? Rounds::bruck
                                                            : Rounds::bruck_back;
  return in_rounds(problem, Form::dissemination, rounds);
}

}  // namespace fairlead::collectives
