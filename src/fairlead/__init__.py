# SPDX-License-Identifier: Apache-2.0
"""Fairlead makes MPI applications faster on networks whose topology nobody will show you."""

from fairlead.cluster import Cluster
from fairlead.errors import (
    Error,
    InputError,
    LabError,
    LaunchError,
    ProbeError,
    ShapeError,
    TopologyError,
    TraceError,
)
from fairlead.host_tree import HostTree
from fairlead.mapping import Cost, evaluate, place
from fairlead.network import Network
from fairlead.placement import Placement
from fairlead.shared_group import SharedGroup
from fairlead.traffic import CollectiveCall, Traffic
from fairlead.workload import (
    Job,
    JobsPlacement,
    Machine,
    SimulationOptions,
    SimulationResult,
    Workload,
    place_jobs,
    simulate,
)

__all__ = [
    "Cluster",
    "CollectiveCall",
    "Cost",
    "Error",
    "HostTree",
    "InputError",
    "Job",
    "JobsPlacement",
    "LabError",
    "LaunchError",
    "Machine",
    "Network",
    "Placement",
    "ProbeError",
    "ShapeError",
    "SharedGroup",
    "SimulationOptions",
    "SimulationResult",
    "TopologyError",
    "TraceError",
    "Traffic",
    "Workload",
    "evaluate",
    "place",
    "place_jobs",
    "simulate",
]
