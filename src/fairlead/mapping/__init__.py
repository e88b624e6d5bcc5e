# SPDX-License-Identifier: Apache-2.0
"""Choosing a host for each rank, and telling what a choice costs."""

from fairlead.mapping.catalogue import METHODS
from fairlead.mapping.cost import Cost, evaluate
from fairlead.mapping.placing import place, require_method
from fairlead.mapping.problem import (
    COST_OF_OBJECTIVE,
    DEFAULT_OBJECTIVE,
    METRICS,
    OBJECTIVES,
)

__all__ = [
    "COST_OF_OBJECTIVE",
    "DEFAULT_OBJECTIVE",
    "METHODS",
    "METRICS",
    "OBJECTIVES",
    "Cost",
    "evaluate",
    "place",
    "require_method",
]
