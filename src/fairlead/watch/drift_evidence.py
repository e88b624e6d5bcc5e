# SPDX-License-Identifier: Apache-2.0
"""How many changed observations one after another are no accident, learnt from those that were.

On a busy machine messages wait, and single observations are several times too slow. How often, how
much, and whether the next one is slow as well differs from machine to machine, so it is not assumed
but counted: a run of slow observations that ends was an accident.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.watch.drift import DRIFT_RATIO

__all__ = ["DriftEvidence"]

Counts = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.float64]

LEVELS = tuple(float(level) for level in np.log([1 + DRIFT_RATIO, 1.5, 2.0, 4.0]))
"""Changes, as logarithms, of which runs are counted: accidents by a factor of four are rarer than
those by a fifth, so that fewer observations show a large change."""

MOST_ACCIDENTS = 0.01
"""Expected number of runs as long among all accidents so far: the more pairs and observations, the
more accidents, and the longer a run has to be."""

PRIOR_ACCIDENTS = 10.0
"""Before any are counted, one of so many is followed by another: three in a row are certain."""

KEPT_RATIO = 0.998
"""Part of the counts that each observation keeps: half after an hour at one every ten seconds."""

LONGEST_RUN = 10_000


class DriftEvidence:
    """Runs of changed observations of many values, at several sizes of the change."""

    def __init__(self, shape: tuple[int, ...], least_rounds: int):
        """Nothing is observed yet.

        Args:
            shape: Shape of the values.
            least_rounds: A run is no proof before it is as long.
        """
        self._least_rounds = least_rounds
        # Faster ones count up, slower ones down.
        self._runs: Counts = np.zeros((len(LEVELS), *shape), dtype=np.int16)
        self._accidents = np.zeros(len(LEVELS))
        self._followed = np.zeros(len(LEVELS))

    def add(
        self,
        where: tuple[npt.NDArray[np.intp], ...],
        change: Matrix,
        own_change: Matrix,
        noise: Matrix,
    ) -> None:
        """Take an observation of some values.

        Args:
            where: Their places, as of `np.ix_`.
            change: Logarithm of each over what was expected; `nan` where not observed.
            own_change: The part of it that is not shared with the others observed at the same
                time. Where only the whole is large, the observation says nothing.
            noise: Changes up to this are none.
        """
        is_certain = self.is_certain[where]
        for level, least in enumerate(LEVELS):
            runs = self._runs[level][where]
            threshold = np.maximum(least, noise)
            with np.errstate(invalid="ignore"):
                way = np.sign(own_change) * (np.abs(own_change) > threshold)
                says_something = (np.abs(own_change) > threshold) | (np.abs(change) <= threshold)
            way = np.where(says_something, way, 0).astype(np.int16)
            ends = says_something & (runs != 0) & (way * runs <= 0)
            accidents = np.abs(runs[ends & ~is_certain])
            self._accidents[level] += float(accidents.sum())
            self._followed[level] += float((accidents - 1).sum())
            runs = np.where(ends, 0, runs) + way
            self._runs[level][where] = np.clip(runs, -LONGEST_RUN, LONGEST_RUN)
        self._accidents *= KEPT_RATIO
        self._followed *= KEPT_RATIO

    @property
    def is_certain(self) -> Mask:
        """Which values have changed for certain."""
        needed = np.array([self.rounds_needed(level) for level in range(len(LEVELS))])
        is_long = np.abs(self._runs) >= needed.reshape(-1, *(1,) * (self._runs.ndim - 1))
        return np.asarray(is_long.any(axis=0))

    def rounds_needed(self, level: int) -> int:
        """Length of a run of changes of one of LEVELS that accidents do not explain."""
        following = (self._followed[level] + 1) / (self._accidents[level] + PRIOR_ACCIDENTS)
        often = (self._accidents[level] + 1) / MOST_ACCIDENTS
        more = np.ceil(np.log(often) / -np.log(min(following, 0.99)) - 1e-9)
        return max(self._least_rounds, 1 + int(more))

    @property
    def strength(self) -> npt.NDArray[np.int64]:
        """Lengths of the runs of each value, those of all LEVELS added up; 0 without a run."""
        return np.asarray(np.abs(self._runs.astype(np.int64)).sum(axis=0))
