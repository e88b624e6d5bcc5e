# SPDX-License-Identifier: Apache-2.0
"""Many jobs on shared nodes: what they send, where they are placed, what they then wait for."""

from fairlead.workload.job import RATE_PER, Job
from fairlead.workload.machine import Machine
from fairlead.workload.patterns import PATTERNS
from fairlead.workload.placement import JobsPlacement
from fairlead.workload.simulating import (
    JobResult,
    ServerResult,
    SimulationOptions,
    SimulationResult,
    simulate,
    simulate_each,
)
from fairlead.workload.strategies import STRATEGIES, place_jobs
from fairlead.workload.workload import Workload, shipped_workloads

__all__ = [
    "PATTERNS",
    "RATE_PER",
    "STRATEGIES",
    "Job",
    "JobResult",
    "JobsPlacement",
    "Machine",
    "ServerResult",
    "SimulationOptions",
    "SimulationResult",
    "Workload",
    "place_jobs",
    "shipped_workloads",
    "simulate",
    "simulate_each",
]
