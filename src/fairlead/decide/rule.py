# SPDX-License-Identifier: Apache-2.0
"""When a placement is worth using: an expected saving, and a bound on the risk of a loss."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Sequence

import numpy as np
import numpy.typing as npt
import scipy.special

from fairlead.decide.expected_gain import TOLERATED_RATIO, Gain
from fairlead.model.placement import Placement

__all__ = ["DEFAULT_RULE", "LEAST_BETTER_RATIO", "Rule", "dropped_by", "rehearsed_gain"]

LEAST_BETTER_RATIO = 0.03
"""A further placement is rehearsed if it is predicted to be better than another by this much."""

LEAST_ERROR = 0.005
"""Least standard error of the logarithm of a mean ratio, since a few rounds may agree by chance."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """When a placement is used.

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

    def best(self, gains: Sequence[Gain]) -> tuple[int | None, bool]:
        """Which of several placements is best, and whether it is taken.

        Of those that are accepted the one with the largest expected saving, or of all where none
        is; None where there are none at all.
        """
        accepted = [index for index, gain in enumerate(gains) if self.accepts(gain)]
        among = accepted or range(len(gains))
        return max(among, key=lambda index: gains[index].ratio, default=None), bool(accepted)


def rehearsed_gain(*log_ratios: npt.NDArray[np.float64]) -> Gain:
    """The saving of a placement, by trials in turns with the launcher's placement.

    Args:
        log_ratios: Logarithm of the placement's time over the launcher's, one per round, at
            least two. Trials of one round ran right after one another, so that varying load slows
            both. Where the two were compared with a third placement in separate rehearsals, one
            array for each of these, of which the means add up.

    Source: Student 1908 (mean of a few normal values), Welch 1947 (sum of such means: the degrees
    of freedom).
    """
    means = [float(np.mean(each)) for each in log_ratios]
    variances = [
        max(float(np.var(each, ddof=1)) / len(each), LEAST_ERROR**2) for each in log_ratios
    ]
    mean, error = sum(means), float(np.sqrt(sum(variances)))
    freedom = sum(variances) ** 2 / sum(
        variance**2 / (len(each) - 1) for variance, each in zip(variances, log_ratios, strict=True)
    )
    # By scipy.special, as importing scipy.stats takes half a second.
    low, high = -np.expm1(mean + error * scipy.special.stdtrit(freedom, [0.975, 0.025]))
    risk = scipy.special.stdtr(freedom, (mean - np.log1p(TOLERATED_RATIO)) / error)
    return Gain(-np.expm1(mean), float(low), float(high), float(risk))


def dropped_by(
    dropped: Collection[Placement], cost_s: Callable[[Placement], float]
) -> Callable[[Placement], bool]:
    """Detects placements that have proved slower, and those with no larger predicted saving.

    A placement has many mirror images with the same prediction, so the others are expected to be as
    slow as the one that was run.

    Args:
        dropped: Placements that have proved slower.
        cost_s: Predicted time of a placement.
    """
    least_s = min(map(cost_s, dropped), default=math.inf)
    return lambda placement: cost_s(placement) >= (1 - LEAST_BETTER_RATIO) * least_s


DEFAULT_RULE = Rule()
"""The default rule of `fairlead run`."""
