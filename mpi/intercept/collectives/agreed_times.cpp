// SPDX-License-Identifier: Apache-2.0
#include "collectives/agreed_times.hpp"

#include <array>
#include <span>

#include "plan/world_hosts.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {
namespace {

using fairlead::collectives::Members;
using fairlead::collectives::Operation;

// The largest of all values is taken; what is to be the smallest is negative.
double sign_of(Operation operation) {
  return fairlead::collectives::has_root(operation) ? 1.0 : -1.0;
}

void take_largest(std::span<double> values, const Members& members) {
  require_success(mpi().Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                                  double_type(), op_max(), members.comm()));
}

}  // namespace

AgreedTimes agree_on_times(Members& members, Operation operation, const OwnTimes& own) {
  const double sign = sign_of(operation);
  // The shortest of the agreements counts: the others have waited for a rank that came late.
  std::array values{sign * own.call_s, -own.agreement_s, own.wait_s, own.is_outdated ? 1.0 : 0.0,
                    own.is_planned ? 1.0 : 0.0};
  take_largest(values, members);
  return {.call_s = sign * values[0],
          .agreement_s = -values[1],
          .may_probe = values[2] <= 0,
          .is_outdated = values[3] > 0,
          .is_planned = values[4] > 0};
}

PairTimes agree_on_pair(Members& members, Operation operation, const PairTimes& own) {
  const double sign = sign_of(operation);
  std::array values{sign * own.old_s, sign * own.new_s};
  take_largest(values, members);
  return {.old_s = sign * values[0], .new_s = sign * values[1]};
}

}  // namespace fairlead::intercept
