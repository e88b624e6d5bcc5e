// SPDX-License-Identifier: Apache-2.0
// Rounds in which each host has one partner, so that pairs are measured side by side.
#pragma once

namespace fairlead::intercept {

/// Rounds until each pair of hosts has met once.
[[nodiscard]] int num_rounds(int num_hosts);

/// The partner of a host in a round, counted modulo `num_rounds`, or kNoHost.
[[nodiscard]] int partner_in_round(int host, int round, int num_hosts);

}  // namespace fairlead::intercept
