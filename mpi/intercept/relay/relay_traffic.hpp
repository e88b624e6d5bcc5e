// SPDX-License-Identifier: Apache-2.0
// What has carried the large messages of this process, and how fast.
#pragma once

namespace fairlead::intercept::relay {

/// Leaves the bytes of each path in the record of the run, with the latency and rate that
/// acks have shown; a rank without such messages does so only if it is rank 0.
/// @pre the messenger has started
void leave_relay_traffic();

}  // namespace fairlead::intercept::relay
