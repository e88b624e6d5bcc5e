// SPDX-License-Identifier: Apache-2.0
// What the methods in rounds share, doubling and dissemination.
#pragma once

#include "collectives/methods/methods.hpp"
#include "collectives/orders/orders.hpp"

namespace fairlead::collectives {

/// Hosts in an order in which the rounds are short.
[[nodiscard]] Schedule in_rounds(const Problem& problem, Form form, Rounds rounds);

}  // namespace fairlead::collectives
