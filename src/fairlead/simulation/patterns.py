# SPDX-License-Identifier: Apache-2.0
"""Communication patterns of SPREAD's synthetic jobs, all of them in one catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.simulation.checks import require_within

__all__ = ["PATTERNS", "Pattern"]

Pairs = npt.NDArray[np.int64]


class Pattern(NamedTuple):
    """A communication pattern of a job's ranks.

    Attributes:
        pairs: From the number of ranks the pairs of src and dst, shape (S, 2), src ascending;
            raises InputError where there are too many.
        summary: What it does, in one line.
    """

    pairs: Callable[[int], Pairs]
    summary: str


_MOST_ALL_TO_ALL = 8192
"""With more processes, the pairs of all-to-all would take more than some gigabytes."""


def _all_to_all(num_ranks: int) -> Pairs:
    require_within("all_to_all: processes", num_ranks, 2, _MOST_ALL_TO_ALL)
    return np.argwhere(~np.eye(num_ranks, dtype=bool))


def _from_root(num_ranks: int) -> Pairs:
    others = np.arange(1, num_ranks)
    return np.column_stack([np.zeros_like(others), others])


def _to_root(num_ranks: int) -> Pairs:
    return _from_root(num_ranks)[:, ::-1]


def _linear(num_ranks: int) -> Pairs:
    src = np.arange(num_ranks - 1)
    return np.column_stack([src, src + 1])


PATTERNS: dict[str, Pattern] = {
    "all_to_all": Pattern(_all_to_all, "every rank sends to every other"),
    "bcast": Pattern(_from_root, "rank 0 sends to all others"),
    "scatter": Pattern(_from_root, "rank 0 sends to all others"),
    "gather": Pattern(_to_root, "all others send to rank 0"),
    "reduce": Pattern(_to_root, "all others send to rank 0"),
    "linear": Pattern(_linear, "each rank sends to the next; the last sends nothing"),
}
"""Source: SPREAD section 5.2, where bcast and scatter are one pattern, and gather and reduce."""
