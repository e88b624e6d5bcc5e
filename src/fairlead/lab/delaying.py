# SPDX-License-Identifier: Apache-2.0
"""Chooses what delays packets in a lab: netem if the kernel has it, else a process."""

from __future__ import annotations

import enum
from typing import Literal

from pyroute2 import IPRoute

from fairlead.errors import LabError
from fairlead.lab.ends import index_of
from fairlead.lab.netem import has_netem
from fairlead.lab.topology import Topology

__all__ = ["DelayBy", "choose_delay"]


class DelayBy(str, enum.Enum):
    """The ways to delay packets."""

    nothing = "nothing"
    """For labs without delays."""
    netem = "netem"
    line = "delay line"


def choose_delay(
    topology: Topology, switch: IPRoute, wanted: Literal["netem", "line"] | None
) -> DelayBy:
    """How packets are delayed on this machine.

    Args:
        topology: The delays, if there are any.
        switch: Connection in the network of the switches, on one of which netem is tried.
        wanted: The scenario's `latency.by`.

    Raises:
        LabError: netem was requested, and the kernel does not have it.
    """
    if not topology.delayed_pairs():
        return DelayBy.nothing
    if wanted == "line":
        return DelayBy.line
    if has_netem(switch, index_of(switch, "core")):
        return DelayBy.netem
    if wanted == "netem":
        raise LabError('latency.by: this kernel has no netem; leave it out, or say "line"')
    return DelayBy.line
