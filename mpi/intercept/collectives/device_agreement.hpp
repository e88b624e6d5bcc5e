// SPDX-License-Identifier: Apache-2.0
// Whether calls on a communicator may have buffers in the memory of a device.
#pragma once

#include <cstdint>

#include "members.hpp"

namespace fairlead::intercept {

/// The answer of all ranks of a communicator, which has to be the same although their buffers
/// differ. They agree at its calls 1, 2, 4 and so on, and from 1024 on at each 1024th, since a
/// program may load a runtime at any time. Once it is yes, it stays so.
class DeviceAgreement {
 public:
  /// The answer for this call. Collective over the communicator.
  /// @throws MpiFailure
  [[nodiscard]] bool may_occur(const fairlead::collectives::Members& members);

 private:
  std::uint64_t num_calls_ = 0;
  bool may_occur_ = false;
};

}  // namespace fairlead::intercept
