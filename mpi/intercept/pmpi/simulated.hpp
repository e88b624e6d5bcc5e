// SPDX-License-Identifier: Apache-2.0
// Whether SimGrid's SMPI runs the program, which is what the object to link is built for.
#pragma once

namespace fairlead::intercept {

#if defined(FAIRLEAD_LINKED)
/// Clock and hosts are simulated. Functions that SMPI declares but does not have (for spawned
/// processes and topologies) end the program, so they are not called.
inline constexpr bool kIsSimulated = true;
#else
inline constexpr bool kIsSimulated = false;
#endif

}  // namespace fairlead::intercept
