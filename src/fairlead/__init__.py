# SPDX-License-Identifier: Apache-2.0
"""Fairlead makes MPI applications faster on networks whose topology is hidden."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairlead.decide import collectives
    from fairlead.decide.jobs import place_jobs
    from fairlead.decide.placement import place
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
    from fairlead.model.bottleneck_group import BottleneckGroup
    from fairlead.model.cluster import Cluster
    from fairlead.model.collective_call import CollectiveCall
    from fairlead.model.cost import Cost, TreeCost, evaluate, evaluate_on_tree
    from fairlead.model.flows_summary import FlowsSummary
    from fairlead.model.hierarchy import Hierarchy, build_hierarchy
    from fairlead.model.host_tree import HostTree
    from fairlead.model.network import Network
    from fairlead.model.placement import Placement
    from fairlead.model.schedule import Schedule
    from fairlead.model.traffic import Traffic, Untraced
    from fairlead.simulation import (
        Job,
        JobsPlacement,
        Machine,
        SimulationOptions,
        SimulationResult,
        Workload,
        simulate,
    )
    from fairlead.watch.remap import Remapper

__all__ = [
    "BottleneckGroup",
    "Cluster",
    "CollectiveCall",
    "Cost",
    "Error",
    "FlowsSummary",
    "Hierarchy",
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
    "Remapper",
    "Schedule",
    "ShapeError",
    "SimulationOptions",
    "SimulationResult",
    "TopologyError",
    "TraceError",
    "Traffic",
    "TreeCost",
    "Untraced",
    "Workload",
    "build_hierarchy",
    "collectives",
    "evaluate",
    "evaluate_on_tree",
    "place",
    "place_jobs",
    "simulate",
]

# Modules whose `__all__` holds these names, light ones first.
_MODULES = (
    "errors",
    "model.cluster",
    "model.network",
    "model.collective_call",
    "model.traffic",
    "model.placement",
    "model.bottleneck_group",
    "model.flows_summary",
    "model.host_tree",
    "model.cost",
    "model.hierarchy",
    "model.schedule",
    "decide.placement",
    "simulation",
    "decide.jobs",
    "watch.remap",
)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: importing NumPy and SciPy takes long."""
    if name == "collectives":
        return importlib.import_module("fairlead.decide.collectives")
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
