// SPDX-License-Identifier: Apache-2.0
// The names under which the machine of this process may stand in a list of hosts.
#pragma once

#include <string>
#include <vector>

namespace fairlead::intercept {

/// The node name, then the addresses of this machine's interfaces, without the loopback's; in a
/// simulation, the name of the simulated host.
[[nodiscard]] std::vector<std::string> own_names();

}  // namespace fairlead::intercept
