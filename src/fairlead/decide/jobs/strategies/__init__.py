# SPDX-License-Identifier: Apache-2.0
"""Choosing a core for each rank of several jobs; one file per strategy, listed in `catalogue`."""

from fairlead.decide.jobs.strategies.catalogue import (
    DEFAULT_STRATEGY,
    STRATEGIES,
    place_jobs,
    require_strategy,
)
from fairlead.decide.jobs.strategies.problem import require_effort

__all__ = ["DEFAULT_STRATEGY", "STRATEGIES", "place_jobs", "require_effort", "require_strategy"]
