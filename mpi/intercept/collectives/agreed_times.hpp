// SPDX-License-Identifier: Apache-2.0
// What all ranks of a communicator agree on about the times of their calls.
#pragma once

#include "fairlead/collectives/schedule.hpp"
#include "members.hpp"

namespace fairlead::intercept {

/// One rank's part of an agreement.
struct OwnTimes {
  double call_s = 0.0;       ///< median of the last calls
  double agreement_s = 0.0;  ///< what the last agreement took; 0: there was none
  double wait_s = 0.0;       ///< until a probe is allowed; not positive: it is
  bool is_outdated = false;  ///< the schedule was planned on an older network
  bool is_planned = false;   ///< what is planned in the background is ready
};

/// The same on all ranks.
struct AgreedTimes {
  double call_s = 0.0;
  double agreement_s = 0.0;
  bool may_probe = false;
  bool is_outdated = false;
  bool is_planned = false;
};

/// Which rank's time counts: where all wait for all it is the shortest, as the rank that comes last
/// does not wait; with a root it is the longest, as some ranks leave early. Collective.
/// @throws MpiFailure
[[nodiscard]] AgreedTimes agree_on_times(fairlead::collectives::Members& members,
                                         fairlead::collectives::Operation operation,
                                         const OwnTimes& own);

/// Times of a call by the schedule in use and of one by a new schedule.
struct PairTimes {
  double old_s = 0.0;
  double new_s = 0.0;
};

/// The same for a pair of calls. Collective.
/// @throws MpiFailure
[[nodiscard]] PairTimes agree_on_pair(fairlead::collectives::Members& members,
                                      fairlead::collectives::Operation operation,
                                      const PairTimes& own);

}  // namespace fairlead::intercept
