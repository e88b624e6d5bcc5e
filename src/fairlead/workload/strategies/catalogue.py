# SPDX-License-Identifier: Apache-2.0
"""All strategies by name, and `place_jobs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fairlead.errors import InputError
from fairlead.workload.placement import CoresOfJobs, JobsPlacement
from fairlead.workload.strategies import drb, filling, spread
from fairlead.workload.workload import Workload

__all__ = ["STRATEGIES", "Strategy", "place_jobs", "require_strategy"]


class Strategy(NamedTuple):
    """One way to place several jobs.

    Attributes:
        place: Cores of each job's ranks, from the workload and a seed.
        letter: What SPREAD's figures call it.
        summary: What it does, in one line.
    """

    place: Callable[[Workload, int], CoresOfJobs]
    letter: str
    summary: str


STRATEGIES: dict[str, Strategy] = {
    "blocked": Strategy(filling.blocked, "B", "neighbouring ranks together, nodes one by one"),
    "cyclic": Strategy(filling.cyclic, "C", "a rank for each node in turn, over all jobs"),
    "drb": Strategy(drb.drb, "D", "Scotch: all traffic mapped to the tree of nodes and sockets"),
    "spread": Strategy(
        spread.spread, "N", "SPREAD: at most a threshold of a job's ranks on a node"
    ),
}


def place_jobs(workload: Workload, method: str = "spread", *, seed: int = 0) -> JobsPlacement:
    """Choose a core for each rank of each job; no core gets two, no taken core is used.

    Args:
        workload: The jobs, and the machine they share.
        method: Name in `STRATEGIES`.
        seed: Where random numbers start, 0 or more; same seed, same placement.

    Raises:
        InputError: There is no such strategy; the message lists those there are.
    """
    require_strategy(method)
    if seed < 0:
        raise InputError(f"seed: must be >= 0, got {seed}")
    return JobsPlacement(workload.machine, STRATEGIES[method].place(workload, seed), method)


def require_strategy(method: str) -> None:
    """Check a name before anything is measured for it.

    Raises:
        InputError: There is no such strategy; the message lists those there are.
    """
    if method not in STRATEGIES:
        raise InputError(f"method: unknown name {method!r}; there are {', '.join(STRATEGIES)}")
