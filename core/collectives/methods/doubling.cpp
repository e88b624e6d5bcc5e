// SPDX-License-Identifier: Apache-2.0
// Recursive doubling: each round with a host twice as far away in the order as in the one before.
#include "collectives/methods/rounds.hpp"

namespace fairlead::collectives {

Schedule plan_doubling(const Problem& problem) {
  return in_rounds(problem, Form::doubling, Rounds::doubling);
}

}  // namespace fairlead::collectives
