# SPDX-License-Identifier: Apache-2.0
"""Many jobs on shared nodes: their messages, and how long these wait."""

from fairlead.simulation.job import RATE_PER, Job
from fairlead.simulation.jobs_placement import JobsPlacement
from fairlead.simulation.jobs_record import JobsRecord, read_jobs_placement
from fairlead.simulation.machine import Machine
from fairlead.simulation.patterns import PATTERNS
from fairlead.simulation.run import (
    JobResult,
    ServerResult,
    SimulationOptions,
    SimulationResult,
    simulate,
    simulate_each,
)
from fairlead.simulation.workload import Workload, packaged_workloads

__all__ = [
    "PATTERNS",
    "RATE_PER",
    "Job",
    "JobResult",
    "JobsPlacement",
    "JobsRecord",
    "Machine",
    "ServerResult",
    "SimulationOptions",
    "SimulationResult",
    "Workload",
    "packaged_workloads",
    "read_jobs_placement",
    "simulate",
    "simulate_each",
]
