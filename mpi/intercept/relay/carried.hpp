// SPDX-License-Identifier: Apache-2.0
// What has carried the large messages of this process.
#pragma once

namespace fairlead::intercept::relay {

/// Leaves the bytes of each path in the record of the run; a rank without such messages does so
/// only if it is rank 0.
/// @pre the messenger has started
void leave_carried();

}  // namespace fairlead::intercept::relay
