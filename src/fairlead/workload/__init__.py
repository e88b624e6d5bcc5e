# SPDX-License-Identifier: Apache-2.0
"""Many jobs on shared nodes: what they send, where they are placed, what they then wait for."""

from fairlead.workload.job import RATE_PER, Job
from fairlead.workload.jobs_record import JobsRecord, read_jobs_placement
from fairlead.workload.machine import Machine
from fairlead.workload.mapped_jobs import MappedJobs, map_jobs
from fairlead.workload.patterns import PATTERNS
from fairlead.workload.placement import JobsPlacement
from fairlead.workload.shared_hosts import SharedHosts, parse_taken
from fairlead.workload.simulating import (
    JobResult,
    ServerResult,
    SimulationOptions,
    SimulationResult,
    simulate,
    simulate_each,
)
from fairlead.workload.strategies import DEFAULT_STRATEGY, STRATEGIES, place_jobs
from fairlead.workload.workload import Workload, shipped_workloads

__all__ = [
    "DEFAULT_STRATEGY",
    "PATTERNS",
    "RATE_PER",
    "STRATEGIES",
    "Job",
    "JobResult",
    "JobsPlacement",
    "JobsRecord",
    "Machine",
    "MappedJobs",
    "ServerResult",
    "SharedHosts",
    "SimulationOptions",
    "SimulationResult",
    "Workload",
    "map_jobs",
    "parse_taken",
    "place_jobs",
    "read_jobs_placement",
    "shipped_workloads",
    "simulate",
    "simulate_each",
]
