// SPDX-License-Identifier: Apache-2.0
// The name of the host that this process runs on.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace fairlead::intercept {

[[nodiscard]] inline std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace fairlead::intercept
