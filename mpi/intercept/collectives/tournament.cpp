// SPDX-License-Identifier: Apache-2.0
// Who plays whom: the circle method, in which two hosts meet in the round that is the sum of their
// numbers, and the last host, or nobody, is the partner of the one that would meet itself.
#include "collectives/tournament.hpp"

#include "fairlead/collectives/schedule.hpp"

namespace fairlead::intercept {

int num_rounds(int num_hosts) {
  return num_hosts % 2 == 0 ? num_hosts - 1 : num_hosts;
}

int partner_in_round(int host, int round, int num_hosts) {
  using fairlead::collectives::kNoHost;
  const int rounds = num_rounds(num_hosts);
  if (host < rounds) {
    const int other = ((round - host) % rounds + rounds) % rounds;
    if (other != host) return other;
    return num_hosts % 2 == 0 ? num_hosts - 1 : kNoHost;
  }
  for (int other = 0; other < rounds; ++other) {
    if (2 * other % rounds == round % rounds) return other;
  }
  return kNoHost;
}

}  // namespace fairlead::intercept
