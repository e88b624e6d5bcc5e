# SPDX-License-Identifier: Apache-2.0
"""Chooses what delays packets in a lab: netem if the kernel has it, else a process."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Literal

from fairlead.errors import LabError
from fairlead.lab.topology import Topology

__all__ = ["DelayBy", "choose_delay"]


class DelayBy(str, enum.Enum):
    """The ways to delay packets."""

    nothing = "nothing"
    """For labs without delays."""
    netem = "netem"
    line = "delay line"


def choose_delay(
    topology: Topology, wanted: Literal["netem", "line"] | None, has_netem: Callable[[], bool]
) -> DelayBy:
    """How packets are delayed on this machine.

    Args:
        topology: The delays, if there are any.
        wanted: The scenario's `latency.by`.
        has_netem: Tries whether the kernel has netem.

    Raises:
        LabError: netem was requested, and the kernel does not have it.
    """
    if not topology.delayed_pairs():
        return DelayBy.nothing
    if wanted == "line":
        return DelayBy.line
    if has_netem():
        return DelayBy.netem
    if wanted == "netem":
        raise LabError('latency.by: this kernel has no netem; leave it out, or say "line"')
    return DelayBy.line
