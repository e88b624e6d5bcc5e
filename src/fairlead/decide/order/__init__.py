# SPDX-License-Identifier: Apache-2.0
"""The order of hosts for programs whose communication follows the order of their ranks."""

from fairlead.decide.order.ordering import LEAST_GAIN_RATIO, Ordering, order_hosts
from fairlead.decide.order.patterns import PATTERNS, Pattern, pattern_named

__all__ = [
    "LEAST_GAIN_RATIO",
    "PATTERNS",
    "Ordering",
    "Pattern",
    "order_hosts",
    "pattern_named",
]
