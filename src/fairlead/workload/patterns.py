# SPDX-License-Identifier: Apache-2.0
"""Who sends to whom: the patterns of SPREAD's synthetic jobs, all of them in one catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["PATTERNS", "Pattern"]

Pairs = list[tuple[int, int]]


class Pattern(NamedTuple):
    """A way in which the ranks of a job communicate.

    Attributes:
        pairs: Ordered pairs of ranks, from the number of ranks.
        summary: What it does, in one line.
    """

    pairs: Callable[[int], Pairs]
    summary: str


def _all_to_all(num_ranks: int) -> Pairs:
    return [(src, dst) for src in range(num_ranks) for dst in range(num_ranks) if src != dst]


def _from_root(num_ranks: int) -> Pairs:
    return [(0, dst) for dst in range(1, num_ranks)]


def _to_root(num_ranks: int) -> Pairs:
    return [(src, 0) for src in range(1, num_ranks)]


def _linear(num_ranks: int) -> Pairs:
    return [(src, src + 1) for src in range(num_ranks - 1)]


PATTERNS: dict[str, Pattern] = {
    "all_to_all": Pattern(_all_to_all, "every rank sends to every other"),
    "bcast": Pattern(_from_root, "rank 0 sends to all others"),
    "scatter": Pattern(_from_root, "rank 0 sends to all others"),
    "gather": Pattern(_to_root, "all others send to rank 0"),
    "reduce": Pattern(_to_root, "all others send to rank 0"),
    "linear": Pattern(_linear, "each rank sends to the next; the last sends to nobody"),
}
"""Source: SPREAD, which takes bcast with scatter and gather with reduce as one each."""
