// SPDX-License-Identifier: Apache-2.0
#include "collectives/agreed_times.hpp"

#include <array>

#include "plan/world_hosts.hpp"
#include "pmpi/mpi_symbols.hpp"

namespace fairlead::intercept {

AgreedTimes agree_on_times(fairlead::collectives::Members& members,
                           fairlead::collectives::Operation operation, const OwnTimes& own) {
  // Of all values the largest; what is to be the smallest is negative.
  const double sign = fairlead::collectives::has_root(operation) ? 1.0 : -1.0;
  // Of agreements the shortest: the others have waited for a rank that came late.
  std::array values{sign * own.call_s, -own.agreement_s, own.wait_s, own.is_outdated ? 1.0 : 0.0};
  require_success(mpi().Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                                  double_type(), op_max(), members.comm()));
  return {.call_s = sign * values[0],
          .agreement_s = -values[1],
          .may_probe = values[2] <= 0,
          .is_outdated = values[3] > 0};
}

}  // namespace fairlead::intercept
