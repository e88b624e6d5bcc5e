# SPDX-License-Identifier: Apache-2.0
"""Chooses pairs: landmarks and random pairs, then those with the most uncertain estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fairlead.measure.sampling.estimation import Estimate

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LANDMARK_RATIO = 0.65
"""Share of the first batch for landmarks, hosts that are measured with all others."""
RANDOM_RATIO = 0.25
"""Share of a later batch that is drawn from all pairs at random, to check the error bars."""
UNSURE_RATIO = 1.2
"""A pair is measured if its typical error is this many times the median."""


class Sampler:
    """Proposes batches of pairs of H hosts.

    Args:
        num_hosts: H.
        seed: Equal seeds propose equal pairs, given equal measurements.

    Attributes:
        asked: Pairs proposed so far, shape (H, H), symmetric.
    """

    def __init__(self, num_hosts: int, seed: int = 0):
        self.num_hosts = num_hosts
        self.asked = np.zeros((num_hosts, num_hosts), dtype=bool)
        self._random = np.random.default_rng(seed)

    @property
    def num_pairs(self) -> int:
        """All unordered pairs."""
        return self.num_hosts * (self.num_hosts - 1) // 2

    @property
    def num_asked(self) -> int:
        """Unordered pairs proposed so far."""
        return int(self.asked.sum()) // 2

    def first(self, num_pairs: int) -> Mask:
        """Some hosts with all others, then random partners for every host."""
        before = self.asked.copy()
        num_landmarks = max(1, round(LANDMARK_RATIO * num_pairs / max(1, self.num_hosts - 1)))
        landmarks = self._random.permutation(self.num_hosts)[:num_landmarks]
        self._ask_rows(landmarks, ~self.asked, num_pairs)
        self._ask_matchings(before, num_pairs)
        return self.asked & ~before

    def next(self, estimates: Sequence[Estimate], nearness: Matrix, num_pairs: int) -> Mask:
        """Pairs with the most uncertain estimates, and some random ones.

        It chooses hosts whose nearest known neighbour is far, since no pair inside their group was
        measured yet. Their uncertain pairs are measured, or all of their pairs if none is
        uncertain. This shows how all others reach that host, which separates groups that the
        landmarks do not separate.

        Args:
            estimates: Estimates of each quantity, from all pairs measured so far.
            nearness: Nearness of each measured pair, larger is nearer, shape (H, H), else `nan`.
            num_pairs: Pairs to propose; fewer are left at the end.
        """
        before = self.asked.copy()
        goal = math.ceil((1 - RANDOM_RATIO) * num_pairs)
        scatter = np.mean([found.scatter / np.median(found.scatter) for found in estimates], axis=0)
        open_pairs = ~self.asked & ~np.eye(self.num_hosts, dtype=bool)
        if open_pairs.any():
            unsure = open_pairs & (
                scatter + scatter.T > 2 * UNSURE_RATIO * np.median(scatter[open_pairs])
            )
            nearest = np.where(np.isnan(nearness), -np.inf, nearness).max(axis=1)
            # The hosts that are farthest from all others come first, in random order.
            far = nearest <= np.median(nearest)
            order = np.lexsort((self._random.random(self.num_hosts), ~far))
            self._ask_rows(order, unsure, goal)
            self._ask_rows(order, open_pairs, goal - self._num_new(before))
        self._ask_matchings(before, num_pairs)
        return self.asked & ~before

    def _num_new(self, before: Mask) -> int:
        return int((self.asked & ~before).sum()) // 2

    def _ask_rows(self, rows: npt.NDArray[np.int64], wanted: Mask, num_pairs: int) -> None:
        """Whole rows of the wanted pairs, until about `num_pairs` more are asked for."""
        limit = self.num_asked + num_pairs
        for row in rows:
            if self.num_asked >= limit:
                return
            partners = np.flatnonzero(wanted[row] & ~self.asked[row])
            partners = partners[partners != row]
            room = limit - self.num_asked
            if len(partners) > room:
                partners = self._random.permutation(partners)[:room]
            self.asked[row, partners] = self.asked[partners, row] = True

    def _ask_matchings(self, before: Mask, num_pairs: int) -> None:
        """Random disjoint pairs, so that every host gets about equally many."""
        limit = min(self.num_pairs, int(before.sum()) // 2 + num_pairs)
        while self.num_asked < limit:
            order = self._random.permutation(self.num_hosts)
            low, high = order[: self.num_hosts // 2], order[-(self.num_hosts // 2) :][::-1]
            is_open = ~self.asked[low, high]
            if 2 * self.num_asked > self.num_pairs or not is_open.any():
                rows, columns = np.nonzero(np.triu(~self.asked, 1))
                drawn = self._random.permutation(len(rows))[: limit - self.num_asked]
                low, high = rows[drawn], columns[drawn]
            else:
                low, high = (side[is_open][: limit - self.num_asked] for side in (low, high))
            self.asked[low, high] = self.asked[high, low] = True
