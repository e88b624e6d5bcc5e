# SPDX-License-Identifier: Apache-2.0
"""Choosing a core for each rank of several jobs; one file per method, listed in `catalogue`."""

from fairlead.decide.jobs.methods.catalogue import (
    DEFAULT_JOB_METHOD,
    JOB_METHODS,
    place_jobs,
    require_job_method,
)
from fairlead.decide.jobs.methods.problem import require_search_limits

__all__ = [
    "DEFAULT_JOB_METHOD",
    "JOB_METHODS",
    "place_jobs",
    "require_job_method",
    "require_search_limits",
]
