# SPDX-License-Identifier: Apache-2.0
"""Which measured values are only roughly known, and which differences are still certain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

NOISY_RATIO = 2.0
"""A value is uncertain if the ends of its 95 % interval differ by this factor."""
TAIL = 0.05
"""Fraction of the pairs that must show a difference. Of equal pairs 2.5 % have their whole 95 %
interval above the truth, and 2.5 % below: a larger fraction is not chance."""


class Contrast(NamedTuple):
    """The certain difference between a network's pairs.

    Attributes:
        low: One pair in twenty has at most this.
        high: One pair in twenty has at least this.
        is_certain: Whether whole 95 % intervals say so, and not values alone.
    """

    low: float
    high: float
    is_certain: bool

    @property
    def ratio(self) -> float:
        """`high / low`; at most 1 if no difference is certain."""
        return self.high / self.low


def is_noisy(low: Matrix | None, high: Matrix | None) -> npt.NDArray[np.bool_] | None:
    """Where intervals are so wide that a value is only roughly known; None without intervals.

    Args:
        low: Lower ends of the 95 % intervals, shape (n, n); `nan` where unknown.
        high: Their upper ends.
    """
    if low is None or high is None:
        return None
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(low) & (high > NOISY_RATIO * low))


def contrast(values: Matrix, low: Matrix | None, high: Matrix | None) -> Contrast | None:
    """A difference between pairs beyond the noise; None if nothing was measured.

    The smallest and the largest of many noisy values only reflect the noise. So one pair in twenty
    must be above, and one in twenty below, with its whole interval.

    Args:
        values: Between hosts, `nan` elsewhere.
        low: Lower ends of the 95 % intervals, of the same shape, or None.
        high: Their upper ends, or None.
    """
    known = np.isfinite(values) & (values > 0)
    if not known.any():
        return None
    if low is not None and high is not None:
        sure = known & np.isfinite(low) & np.isfinite(high) & (low > 0)
        if sure.any():
            ends = np.quantile(high[sure], TAIL), np.quantile(low[sure], 1 - TAIL)
            return Contrast(float(ends[0]), float(ends[1]), True)
    small, large = np.quantile(values[known], [TAIL, 1 - TAIL])
    return Contrast(float(small), float(large), False)
