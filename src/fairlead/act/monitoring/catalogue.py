# SPDX-License-Identifier: Apache-2.0
"""All monitoring systems that can be set up, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairlead.act.monitoring.ldms import ldms_setup
from fairlead.act.monitoring.prometheus import prometheus_setup
from fairlead.act.monitoring.setup import Setup

__all__ = ["SYSTEMS", "System"]


class System(NamedTuple):
    """A monitoring system.

    Attributes:
        setup: Makes the configuration for hosts and switches.
        summary: What is written, in one line.
    """

    setup: Callable[[Sequence[str], Sequence[str]], Setup]
    summary: str


SYSTEMS: dict[str, System] = {
    "prometheus": System(
        prometheus_setup,
        "prometheus.yml with its targets, and the collectors that node_exporter switches on",
    ),
    "ldms": System(ldms_setup, "configurations of ldmsd on every host, and of an aggregator"),
}
"""Each is a file; a further one is a line here."""
