# SPDX-License-Identifier: Apache-2.0
"""Fairlead makes MPI applications faster on networks whose topology nobody will show you."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlead.cluster import Cluster
    from fairlead.errors import (
        Error,
        InputError,
        LabError,
        LaunchError,
        NoTraceError,
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
    "NoTraceError",
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

# Modules whose `__all__` holds these names, light ones first.
_MODULES = (
    "errors",
    "cluster",
    "network",
    "traffic",
    "placement",
    "shared_group",
    "host_tree",
    "mapping",
    "workload",
)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: NumPy and SciPy take their time."""
    if name in __all__:
        for module in _MODULES:
            home = importlib.import_module(f"fairlead.{module}")
            if name in home.__all__:
                found: object = getattr(home, name)
                globals()[name] = found
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
