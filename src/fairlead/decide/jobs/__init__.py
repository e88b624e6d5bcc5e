# SPDX-License-Identifier: Apache-2.0
"""Choosing the cores of several jobs that share nodes."""

from fairlead.decide.jobs.mapped_jobs import MappedJobs, map_jobs
from fairlead.decide.jobs.methods import DEFAULT_JOB_METHOD, JOB_METHODS, place_jobs
from fairlead.decide.jobs.shared_hosts import SharedHosts, parse_taken

__all__ = [
    "DEFAULT_JOB_METHOD",
    "JOB_METHODS",
    "MappedJobs",
    "SharedHosts",
    "map_jobs",
    "parse_taken",
    "place_jobs",
]
