// SPDX-License-Identifier: Apache-2.0
// hwloc's C library, loaded where the host has it.
#pragma once

#include <string>

namespace fairlead::probe {

/// A topology in hwloc's own form (XML of version 2), or why there is none.
struct HostTopology {
  std::string xml;
  /// Whether it is that of this machine, and not one that a variable of the user names.
  bool is_own = false;
  std::string problem;
};

HostTopology read_host_topology();

}  // namespace fairlead::probe
