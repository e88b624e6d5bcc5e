# SPDX-License-Identifier: Apache-2.0
"""The terminal view of each kind of file, and its facts for JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import RenderableType

from fairlead.flows.compare.comparison import Comparison
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.topology import Topology
from fairlead.model.traffic import Traffic
from fairlead.report import (
    comparison_view,
    history_view,
    jobs_view,
    network_view,
    placement_view,
    topology_view,
    traffic_view,
)
from fairlead.report.files import Content
from fairlead.simulation import JobsRecord
from fairlead.watch.history import History


class View(NamedTuple):
    """How one kind of file is shown."""

    facts: Callable[[Any], dict[str, Any]]
    view: Callable[[Any, int], RenderableType]


VIEWS: dict[type, View] = {
    Network: View(network_view.facts, network_view.view),
    Topology: View(topology_view.facts, topology_view.view),
    Traffic: View(traffic_view.facts, traffic_view.view),
    Placement: View(placement_view.facts, placement_view.view),
    Comparison: View(comparison_view.facts, comparison_view.view),
    History: View(history_view.facts, history_view.view),
    JobsRecord: View(jobs_view.facts, jobs_view.view),
}


def facts(content: Content) -> dict[str, Any]:
    """The content as plain, JSON-serialisable values."""
    return VIEWS[type(content)].facts(content)


def view(content: Content, width: int) -> RenderableType:
    """The content for a terminal of `width` columns."""
    return VIEWS[type(content)].view(content, width)
