# SPDX-License-Identifier: Apache-2.0
"""What delays packets in a lab: netem where the kernel has it, else a process."""

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
    """The means there are."""

    nothing = "nothing"
    """No pair is delayed, and nothing stands in the way."""
    netem = "netem"
    line = "delay line"


def choose_delay(
    topology: Topology, switch: IPRoute, wanted: Literal["netem", "line"] | None
) -> DelayBy:
    """What is to delay packets on this machine.

    Args:
        topology: Whether there is anything to delay.
        switch: Connection in the network of the switches, on one of which netem is tried.
        wanted: The scenario's `latency.by`.

    Raises:
        LabError: netem is wanted, and the kernel has none.
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
