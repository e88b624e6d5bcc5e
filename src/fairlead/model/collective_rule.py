# SPDX-License-Identifier: Apache-2.0
"""Which collective calls follow a schedule, and by which method it is planned."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

__all__ = ["DEFAULT_DRIFT", "CollectiveRule", "DriftRule", "TunedCollectives"]


@dataclasses.dataclass(frozen=True)
class CollectiveRule:
    """Calls of one operation, of some sizes, by some communicators.

    Attributes:
        operation: One of `fairlead.collectives.OPERATIONS`.
        method: Name in `fairlead.collectives.METHODS`.
        min_bytes, max_bytes: Sizes for which it holds, both included; None: no limit. The whole
            vector of bcast, reduce and allreduce, one rank's block of the others.
        hosts: For communicators whose processes are on exactly these hosts; None: for all.
        num_ranks: For communicators of so many ranks; None: for all.
        least_saved_ratio: None: the method was timed, and calls follow it. Else it was only
            predicted: calls are the MPI's own until it is predicted to save this part of the time
            that they take, and is then compared with them; >= 0, < 1.
    """

    operation: str
    method: str
    min_bytes: int
    max_bytes: int | None
    hosts: frozenset[str] | None = None
    num_ranks: int | None = None
    least_saved_ratio: float | None = None


@dataclasses.dataclass(frozen=True)
class DriftRule:
    """When collectives of a running program are planned anew.

    Attributes:
        max_ratio: When calls take so much more or less time than expected, the network is measured
            again; > 0.
        drift_from: What is expected: earlier times of the same calls in the run, or the schedule's
            predicted time, as in CMPI (section 5.1).
        max_cost_ratio: Part of the program's time that all of it may cost; > 0.
    """

    max_ratio: float = 0.2
    drift_from: Literal["measured", "predicted"] = "measured"
    max_cost_ratio: float = 0.005


DEFAULT_DRIFT = DriftRule()


@dataclasses.dataclass(frozen=True)
class TunedCollectives:
    """The rules for one program; a call that none covers is the MPI's own.

    Attributes:
        num_ranks: Ranks of MPI_COMM_WORLD.
        rules: The first that fits a call decides.
        is_reproducible: Whether the same call gives the same bits on every run: nothing is planned
            anew while the program runs.
        drift: When schedules are planned anew; None: never.
    """

    num_ranks: int
    rules: Sequence[CollectiveRule]
    is_reproducible: bool = False
    drift: DriftRule | None = None
