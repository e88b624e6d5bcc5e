# SPDX-License-Identifier: Apache-2.0
"""Choosing a host for each rank."""

from fairlead.decide.placement.catalogue import METHODS
from fairlead.decide.placement.placing import place, require_method
from fairlead.decide.placement.problem import (
    COST_OF_OBJECTIVE,
    DEFAULT_OBJECTIVE,
    METRICS,
    OBJECTIVES,
    SLOWEST_RANK,
    choose_objective,
)

__all__ = [
    "COST_OF_OBJECTIVE",
    "DEFAULT_OBJECTIVE",
    "METHODS",
    "METRICS",
    "OBJECTIVES",
    "SLOWEST_RANK",
    "choose_objective",
    "place",
    "require_method",
]
