// SPDX-License-Identifier: Apache-2.0
// The name of the host that this process runs on.
#pragma once

#include <sys/utsname.h>

#include <string>

namespace fairlead {

/// The name that uname(2) gives, as far as it is set, with its domain; empty where it cannot be
/// read.
[[nodiscard]] inline std::string node_name() {
  utsname names{};
  return uname(&names) == 0 ? names.nodename : "";
}

}  // namespace fairlead
