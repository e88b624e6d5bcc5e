# SPDX-License-Identifier: Apache-2.0
"""Checks with single packets whether the built network has the requested delays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from fairlead.lab.checking import pairs_to_check
from fairlead.lab.topology import Matrix, Topology

__all__ = ["WrongDelay", "check_delays"]

_TOLERANCE_RATIO = 0.10
_TOLERANCE_S = 300e-6
"""Delay that this machine may add: its own path, and the time until a process gets a core."""
_CLOCK_S = 20e-6
"""How much too early a packet may seem to arrive while the clock is being adjusted."""
_TRIES = (5, 20, 100)
"""Packets per pair; pairs that look wrong are checked again, since a busy machine delays
packets."""

Ping = Callable[[list[tuple[int, int]], int], list[list[float]]]


@dataclasses.dataclass(frozen=True)
class WrongDelay:
    """A directed pair whose packets come too early or too late."""

    src: str
    dst: str
    delay_s: float
    measured_s: float | None
    """The shortest time; None where no packet arrived."""


def check_delays(topology: Topology, ping: Ping) -> tuple[Matrix, list[WrongDelay]]:
    """Time packets over pairs.

    Args:
        topology: The delays to expect.
        ping: Sends packets over pairs: pairs, and packets per pair; returns seconds of each packet.

    Returns:
        The shortest one-way time of each measured pair in seconds, shape (H, H), [src, dst], `nan`
        where not measured; and the pairs that are wrong.
    """
    measured_s = np.full_like(topology.delay_s, np.nan)
    delay_s = topology.delay_s
    suspects = pairs_to_check(topology.shaped_Bps())
    for repeats in _TRIES:
        if not suspects:
            break
        for pair, times_s in zip(suspects, ping(suspects, repeats), strict=True):
            if times_s:
                measured_s[pair] = np.fmin(measured_s[pair], min(times_s))
        suspects = [pair for pair in suspects if _is_wrong(delay_s[pair], measured_s[pair])]
    wrong = [
        WrongDelay(
            topology.hosts[src],
            topology.hosts[dst],
            float(delay_s[src, dst]),
            None if np.isnan(measured_s[src, dst]) else float(measured_s[src, dst]),
        )
        for src, dst in suspects
    ]
    return measured_s, wrong


def _is_wrong(delay_s: float, measured_s: float) -> bool:
    latest_s = delay_s * (1 + _TOLERANCE_RATIO) + _TOLERANCE_S
    # nan is wrong, too.
    return not delay_s - _CLOCK_S <= measured_s <= latest_s
