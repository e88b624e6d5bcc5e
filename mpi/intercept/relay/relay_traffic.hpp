// SPDX-License-Identifier: Apache-2.0
// What has carried the large messages of this process, and how fast.
#pragma once

namespace fairlead::intercept::relay {

/// Writes the bytes of each path into the record of the run, with the latency and rate that
/// acks have shown; a rank without such messages does so only if it is rank 0.
/// @pre the messenger has started
void write_relay_traffic();

}  // namespace fairlead::intercept::relay
