# SPDX-License-Identifier: Apache-2.0
"""Whether the traffic of a running program is known: it goes on as it was, and its step repeats.

The measures are defined in docs/design/trace-shares.md.
"""

from __future__ import annotations

import bisect

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from fairlead.model.sparse_cells import cells
from fairlead.model.traffic import Traffic

__all__ = ["KnownTraffic", "difference", "traffic_difference"]

MOST_DIFFERENCE = 0.02
"""Below it the last window is like all before."""
LEAST_REPETITIONS = 3
COUNTED_RATIO = 0.98
"""Part of the bytes whose pairs are those by which repetitions are counted: what is sent once, as
input that is handed out, is not waited for."""
WINDOW_RATIO = 1 / 3
"""The last window, of the time so far."""
MOST_MOMENTS = 64
"""Moments that are kept; of more, every second one."""


def difference(one: sp.csr_array, other: sp.csr_array) -> float:
    """Total variation distance of two traffics, each divided by its sum: 0 alike, 1 disjoint.

    Args:
        one: Bytes of each pair, shape (T, T).
        other: The same.

    Returns:
        `nan` where one of them has no bytes.
    """
    if not one.sum() or not other.sum():
        return float("nan")
    apart = sp.csr_array(one / one.sum() - other / other.sum())
    return 0.5 * float(np.abs(apart.data).sum())


def traffic_difference(one: Traffic, other: Traffic) -> float:
    """The same of all that a placement has to carry, never `nan`.

    Traffic without a byte is like another one, and unlike all else.
    """
    found = difference(one.carried.bytes, other.carried.bytes)
    if not np.isnan(found):
        return min(found, 1.0)
    return 1.0 if one.carried.bytes.sum() or other.carried.bytes.sum() else 0.0


class KnownTraffic:
    """What is seen of a program at several moments of its run.

    Attributes:
        repetitions: How often the pairs that carry most have all sent again.
        difference: Between the last window and all before; `nan` while there is none.
    """

    def __init__(self) -> None:
        self.repetitions = 0
        self.difference = float("nan")
        self._moments_s: list[float] = []
        self._sent: list[sp.csr_array] = []
        self._round_begin: sp.csr_array | None = None

    @property
    def is_known(self) -> bool:
        """Whether both say so."""
        return self.repetitions >= LEAST_REPETITIONS and self.difference < MOST_DIFFERENCE

    def add(self, moment_s: float, sent: sp.csr_array) -> None:
        """Look at the program once more.

        Args:
            moment_s: Time since it started.
            sent: Bytes of each pair since then, shape (T, T).
        """
        self._count_round(sent)
        self._moments_s.append(moment_s)
        self._sent.append(sent)
        before = bisect.bisect_right(self._moments_s, moment_s * (1 - WINDOW_RATIO)) - 1
        if before >= 0:
            earlier = self._sent[before]
            self.difference = difference(sp.csr_array(sent - earlier), earlier)
        if len(self._sent) > MOST_MOMENTS:
            del self._moments_s[::2], self._sent[::2]

    def _count_round(self, sent: sp.csr_array) -> None:
        """Count a round when each of the pairs that carry most so far has sent since it began."""
        begin = self._round_begin
        if begin is None:
            self._round_begin = sent if sent.sum() else None
            return
        rows, columns = _most_of(sent)
        if np.all(cells(sent, rows, columns) > cells(begin, rows, columns)):
            self.repetitions += 1
            self._round_begin = sent


def _most_of(sent: sp.csr_array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The fewest pairs that carry `COUNTED_RATIO` of the bytes."""
    pairs = sent.tocoo()
    order = np.argsort(-pairs.data, kind="stable")
    carried = np.cumsum(pairs.data[order])
    count = int(np.searchsorted(carried, COUNTED_RATIO * carried[-1])) + 1
    return (
        pairs.row[order[:count]].astype(np.int64),
        pairs.col[order[:count]].astype(np.int64),
    )
