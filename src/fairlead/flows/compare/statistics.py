# SPDX-License-Identifier: Apache-2.0
"""Statistics of repeated measurements: mean, spread, intervals, ratios, rank agreement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special

from fairlead.errors import InputError, ShapeError

__all__ = [
    "CONFIDENCE_RATIO",
    "Agreement",
    "Interval",
    "geometric_mean_interval",
    "kendall_tau",
    "kendall_tau_interval",
    "kendall_tau_of_repeats",
    "mean",
    "mean_interval",
    "ratio_to_baseline",
    "standard_deviation",
]

Vector = npt.NDArray[np.float64]

CONFIDENCE_RATIO = 0.95
"""Default confidence of intervals."""


_DRAWS = 1000
"""Number of draws of a bootstrap."""


class Interval(NamedTuple):
    """An estimate and its confidence interval, all three in the unit of the values.

    `low` and `high` are `nan` where a single value says nothing about the spread.
    """

    value: float
    low: float
    high: float

    def contains(self, value: float) -> bool:
        """Whether `value` lies inside; an unknown interval (`nan`) excludes nothing."""
        return not (value < self.low or value > self.high)


class Agreement(NamedTuple):
    """Kendall's rank correlation tau-b (-1..1) and its two-sided p-value; `nan` if undefined."""

    tau: float
    p_value: float


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean.

    Raises:
        InputError: There is no value, or one is not finite.
    """
    return math.fsum(values) / len(_check(values))


def standard_deviation(values: Sequence[float]) -> float:
    """Sample standard deviation (n - 1); `nan` for a single value.

    Raises:
        InputError: There is no value, or one is not finite.
    """
    checked = _check(values)
    return float(np.std(checked, ddof=1)) if len(checked) > 1 else math.nan


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE_RATIO) -> Interval:
    """Mean with Student's t interval; for one value the bounds are `nan`.

    Raises:
        InputError: There is no value, or one is not finite.
    """
    center = mean(values)
    if len(values) < 2:
        return Interval(center, math.nan, math.nan)
    half = _t_quantile(confidence, len(values) - 1) * _standard_error(_check(values))
    return Interval(center, center - half, center + half)


def geometric_mean_interval(
    values: Sequence[float], confidence: float = CONFIDENCE_RATIO
) -> Interval:
    """Geometric mean with Student's t interval of the logarithms, whose ends are positive.

    Raises:
        InputError: There is no value, or one is not finite and > 0.

    Source: Fleming and Wallace 1986.
    """
    if min(_check(values)) <= 0:
        raise InputError(f"geometric mean: every value must be > 0, got {min(values)}")
    logs = mean_interval(np.log(values).tolist(), confidence)
    return Interval(*(math.exp(bound) for bound in logs))


def ratio_to_baseline(
    values: Sequence[float], baseline: Sequence[float], confidence: float = CONFIDENCE_RATIO
) -> Interval:
    """How many times the baseline the values are, with a confidence interval.

    Load on the machine affects neighbouring runs alike, so with equal counts run `i` is divided by
    baseline run `i` and the result is the geometric mean of these ratios, with Student's t interval
    of their logarithms. Otherwise it is the ratio of the two geometric means, with the interval of
    its logarithm by Welch-Satterthwaite degrees of freedom. Either way it is the ratio of what
    `geometric_mean_interval` gives for both.

    Args:
        values: Positive values in order of repeat.
        baseline: Positive values of the baseline in order of repeat.
        confidence: Confidence of the interval, 0..1.

    Raises:
        InputError: A list is empty or holds a value that is not finite and > 0.

    Source: Fleming and Wallace 1986 (geometric mean of normalised times); Welch 1947.
    """
    for given in (values, baseline):
        if min(_check(given)) <= 0:
            raise InputError(f"ratio to baseline: every value must be > 0, got {min(given)}")
    if len(values) == len(baseline):
        logs = mean_interval(np.log(np.divide(values, baseline)).tolist(), confidence)
    else:
        logs = _log_ratio(_check(values), _check(baseline), confidence)
    return Interval(*(math.exp(bound) for bound in logs))


def kendall_tau(left: Sequence[float], right: Sequence[float]) -> Agreement:
    """Kendall's tau-b between two rankings of the same things; p is exact without ties.

    Returns:
        `nan` for both where fewer than two things are ranked or one side is constant.

    Raises:
        ShapeError: The lists differ in length.
    """
    if len(left) != len(right):
        raise ShapeError(f"rank agreement: {len(left)} values against {len(right)}")
    if len(left) < 2 or min(left) == max(left) or min(right) == max(right):
        return Agreement(math.nan, math.nan)
    from scipy import stats  # noqa: PLC0415  Half a second, for this alone.

    found = stats.kendalltau(left, right)
    return Agreement(float(found.statistic), float(found.pvalue))


def kendall_tau_interval(predicted: Sequence[float], times_s: npt.ArrayLike, seed: int) -> Interval:
    """Kendall's tau-b of predictions and mean times, with its 95 % bootstrap interval.

    Both the things and the runs of each are drawn with replacement, since both are samples. A thing
    that is drawn twice ties with itself on both sides, which tau-b ignores.

    Args:
        predicted: One value per thing, length P.
        times_s: Runs of each thing, shape (P, R).
        seed: Seed of the draws.

    Returns:
        `nan` if all predictions are equal.

    Source: Kendall 1938; Efron and Tibshirani 1993, chapter 13 (percentile interval).
    """
    times, values = np.asarray(times_s, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    value = kendall_tau(values.tolist(), times.mean(axis=1).tolist()).tau
    if math.isnan(value):
        return Interval(value, value, value)
    rng = np.random.default_rng(seed)
    drawn = []
    for _draw in range(_DRAWS):
        runs = rng.integers(times.shape[1], size=times.shape)
        means = np.take_along_axis(times, runs, axis=1).mean(axis=1)
        things = rng.integers(len(values), size=len(values))
        drawn.append(kendall_tau(values[things].tolist(), means[things].tolist()).tau)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def kendall_tau_of_repeats(times_s: npt.ArrayLike) -> float:
    """Tau between the mean times of the first and of the second half of the runs.

    A prediction cannot be expected to agree with the runs better than they agree with each other.

    Args:
        times_s: Runs of each thing, shape (P, R); `nan` for a single run.
    """
    times = np.asarray(times_s, dtype=np.float64)
    half = times.shape[1] // 2
    if half == 0:
        return math.nan
    first, second = times[:, :half].mean(axis=1), times[:, -half:].mean(axis=1)
    return kendall_tau(first.tolist(), second.tolist()).tau


def _log_ratio(values: Vector, baseline: Vector, confidence: float) -> Interval:
    logs = np.log(values), np.log(baseline)
    center = float(logs[0].mean() - logs[1].mean())
    if min(len(values), len(baseline)) < 2:
        return Interval(center, math.nan, math.nan)
    variances = [_standard_error(side) ** 2 for side in logs]
    if not any(variances):
        return Interval(center, center, center)
    freedom = sum(variances) ** 2 / (
        variances[0] ** 2 / (len(values) - 1) + variances[1] ** 2 / (len(baseline) - 1)
    )
    half = _t_quantile(confidence, freedom) * math.sqrt(sum(variances))
    return Interval(center, center - half, center + half)


def _check(values: Sequence[float]) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        raise InputError("statistics: at least one value is needed, got none")
    if not np.all(np.isfinite(array)):
        raise InputError("statistics: every value must be finite")
    return array


def _standard_error(values: Vector) -> float:
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def _t_quantile(confidence: float, degrees_of_freedom: float) -> float:
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence}")
    return float(scipy.special.stdtrit(degrees_of_freedom, (1 + confidence) / 2))
