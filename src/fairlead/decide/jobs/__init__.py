# SPDX-License-Identifier: Apache-2.0
"""Choosing the cores of several jobs that share nodes."""

from fairlead.decide.jobs.mapped_jobs import MappedJobs, map_jobs
from fairlead.decide.jobs.shared_hosts import SharedHosts, parse_taken
from fairlead.decide.jobs.strategies import DEFAULT_STRATEGY, STRATEGIES, place_jobs

__all__ = [
    "DEFAULT_STRATEGY",
    "STRATEGIES",
    "MappedJobs",
    "SharedHosts",
    "map_jobs",
    "parse_taken",
    "place_jobs",
]
