# SPDX-License-Identifier: Apache-2.0
"""Which ranks follow a seed to its node, the one that communicates most with it first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fairlead.simulation.job import Integers

__all__ = ["GROWTH", "Growth"]

Growth = Callable[["sp.csr_array", int, Integers], Iterator[int]]
"""From the bytes a second that ranks exchange, shape (T, T), symmetric, the seed, and the core of
each rank or -1, which fills while the ranks are taken: ranks without a core."""


def _from_seed(mutual_Bps: sp.csr_array, seed: int, core_of_rank: Integers) -> Iterator[int]:
    """The seed's own neighbours; of equal ones the lower rank first."""
    ranks, values = _neighbours(mutual_Bps, seed)
    for rank in ranks[np.lexsort((ranks, -values))]:
        if core_of_rank[rank] < 0:
            yield int(rank)


def _from_group(mutual_Bps: sp.csr_array, seed: int, core_of_rank: Integers) -> Iterator[int]:
    """Always the rank that communicates most with the seed and all that have followed it."""
    towards_Bps: dict[int, float] = {}
    queue: list[tuple[float, int]] = []
    joined = seed
    while True:
        ranks, values = _neighbours(mutual_Bps, joined)
        for rank, value_Bps in zip(ranks.tolist(), values.tolist(), strict=True):
            if core_of_rank[rank] < 0:
                towards_Bps[rank] = towards_Bps.get(rank, 0.0) + value_Bps
                heapq.heappush(queue, (-towards_Bps[rank], rank))
        while queue and not _is_current(queue[0], towards_Bps, core_of_rank):
            heapq.heappop(queue)
        if not queue:
            return
        joined = queue[0][1]
        yield joined


def _is_current(
    entry: tuple[float, int], towards_Bps: dict[int, float], core_of_rank: Integers
) -> bool:
    """Whether the rank is not placed yet, and its value is up to date."""
    negative_Bps, rank = entry
    return bool(core_of_rank[rank] < 0) and -negative_Bps == towards_Bps[rank]


def _neighbours(mutual_Bps: sp.csr_array, rank: int) -> tuple[Any, Any]:
    """Ranks that communicate with this one, and how much."""
    row = slice(mutual_Bps.indptr[rank], mutual_Bps.indptr[rank + 1])
    ranks, values = mutual_Bps.indices[row], mutual_Bps.data[row]
    return ranks[values > 0], values[values > 0]


GROWTH: dict[str, Growth] = {"seed": _from_seed, "group": _from_group}
"""Which neighbours join a seed on its node: its own (step 3.9 of SPREAD's figure 1), or also those
of the ranks that joined before."""
