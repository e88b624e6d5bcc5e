# SPDX-License-Identifier: Apache-2.0
"""How much faster something is than a baseline that took turns with it; assumes no distribution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.special

from fairlead.decide.expected_gain import Gain

__all__ = ["paired_gain"]


def paired_gain(
    times_s: npt.NDArray[np.float64],
    baseline_s: npt.NDArray[np.float64],
    confidence: float = 0.95,
) -> Gain:
    """The saving, as part of the baseline's time: 1 - median of the ratios of both times.

    Args:
        times_s: One time per round, all > 0.
        baseline_s: The baseline's time in the same rounds.
        confidence: Confidence of the interval, two order statistics: the number of ratios below
            their median is binomial(n, 1/2). It is infinitely wide where there are too few rounds.

    Source: Gibbons and Chakraborti 2003, section 5.2 (interval of a quantile).
    """
    ratios = np.sort(times_s / baseline_s)
    count = len(ratios)
    outside = (1 - confidence) / 2
    # The largest number of ratios that may lie outside at each end.
    below = [scipy.special.bdtr(cut, count, 0.5) for cut in range(count)]
    num_outside = sum(share <= outside for share in below)
    if num_outside == 0:
        low, high = -np.inf, np.inf
    else:
        low, high = 1 - ratios[count - num_outside], 1 - ratios[num_outside - 1]
    return Gain(float(1 - np.median(ratios)), float(low), float(high))
