# SPDX-License-Identifier: Apache-2.0
"""When a placement is worth using: an expected saving, and a bound on the risk of a loss."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import scipy.stats

from fairlead.decide.expected_gain import TOLERATED_RATIO, Gain

__all__ = ["DEFAULT_RULE", "Rule", "rehearsed_gain"]

LEAST_ERROR = 0.005
"""Least standard error of the logarithm of a mean ratio, since a few rounds may agree by chance."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """When a placement is taken.

    A wrong placement on an even network costs next to nothing; the right one on an uneven network
    saves half. So the rule bounds the harm and does not require proof of the gain.

    Attributes:
        risk: Most probability that it is slower than the launcher's by more than
            `TOLERATED_RATIO` of the time on the network.
        least_ratio: Least expected saving, as part of the time on the network.
    """

    risk: float = 0.05
    least_ratio: float = 0.02

    def accepts(self, gain: Gain) -> bool:
        """Whether the expected saving is large enough and the risk of a loss within its bound."""
        return gain.ratio >= self.least_ratio and gain.loss_risk <= self.risk

    def is_hopeless(self, gain: Gain) -> bool:
        """Whether even the upper end of the interval is too small a saving."""
        return gain.high_ratio < self.least_ratio


def rehearsed_gain(log_ratios: npt.NDArray[np.float64]) -> Gain:
    """What a placement saves, by trials beside the launcher's placement.

    Args:
        log_ratios: Logarithm of the placement's time over the launcher's, one per round, at
            least two. Trials of one round ran right after one another, so that varying load slows
            both.

    Source: Student 1908 (mean of a few normal values).
    """
    count = len(log_ratios)
    mean = float(np.mean(log_ratios))
    error = max(float(np.std(log_ratios, ddof=1)) / np.sqrt(count), LEAST_ERROR)
    ratio = scipy.stats.t(df=count - 1, loc=mean, scale=error)
    low, high = -np.expm1(ratio.ppf([0.975, 0.025]))
    return Gain(
        -np.expm1(mean), float(low), float(high), float(ratio.sf(np.log1p(TOLERATED_RATIO)))
    )


DEFAULT_RULE = Rule()
"""The default rule of `fairlead run`."""
