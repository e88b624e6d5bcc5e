# SPDX-License-Identifier: Apache-2.0
"""Which hosts compute slower than the others, beyond what equal hosts differ by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special

from fairlead.model.host_rates import KINDS, LEAST_RATIO, OUTLIER_SCORE, RATES, HostRates

__all__ = ["Straggler", "stragglers"]

Values = npt.NDArray[np.float64]

FALSE_ALARM_RATIO = 0.01
"""At most this part of networks of equal hosts has a named one, by the limit of the score."""

USUAL_SPREAD = 0.03
"""Standard deviation of the logarithms of equal hosts' rates, from a host to another, which repeats
within a tenth of a second do not show: turbo frequencies and neighbours stay that long."""

USUAL_SPREAD_WEIGHT = 10
"""Degrees of freedom that `USUAL_SPREAD` counts as: the spread of a few others is too small at
times by chance."""

_OF_ALL_CORES = {every for _, every in KINDS}

_MAD_OF_NORMAL = 1.4826
_MAD_EFFICIENCY = 0.37
"""Efficiency of the median absolute deviation for a normal distribution. Source: Rousseeuw and
Croux, Alternatives to the Median Absolute Deviation (1993)."""

_MEDIAN_VARIANCE = np.pi / 2
"""Variance of the median of many values as part of the mean's, for a normal distribution."""


class Straggler(NamedTuple):
    """A host that is slower than the others, beyond its own spread and theirs.

    Attributes:
        host: Its position.
        rate: One of `RATES`.
        ratio: Its rate as part of the median of the others; for rates of all cores the rate a CPU
            where that is the larger part.
        score: How many standard deviations it is below them.
    """

    host: int
    rate: str
    ratio: float
    score: float


def stragglers(rates: HostRates) -> list[Straggler]:
    """The stragglers, each by its worst rate; the slowest first.

    A host is one if its rate is lower than the median of the others by at least `LEAST_RATIO`, and
    by as many standard deviations as no rate of equal hosts is, but in `FALSE_ALARM_RATIO` of all
    networks; at least `OUTLIER_SCORE`. The deviation has the spread of hosts, the host's own
    repeats, and those of the others, added in quadrature, all of logarithms. The spread is that of
    the others, which few hosts, or hosts that agree by chance, do not bring below `USUAL_SPREAD`.

    Hosts may have different numbers of CPUs, and then neither the rate of all nor the rate a CPU
    shows what is slow: fewer CPUs are less in all, and hyperthreads are less each. A host must be
    slow by both.

    Args:
        rates: What is unknown is compared with nothing.
    """
    limit = max(
        OUTLIER_SCORE, float(-scipy.special.ndtri(FALSE_ALARM_RATIO / max(1, rates.rates.size)))
    )
    values, errors = np.log(rates.rates), rates.log_errors()
    of_cpu = values - np.log(np.maximum(rates.num_cores, 1))[:, None]
    found = []
    for host in range(len(values)):
        slow = []
        for rate, name in enumerate(RATES):
            readings = (values, of_cpu) if rate in _OF_ALL_CORES else (values,)
            compared = [_shortfall(each[:, rate], errors[:, rate], host) for each in readings]
            below, score = (min(column) for column in zip(*compared, strict=True))
            if below >= -np.log1p(-LEAST_RATIO) and score >= limit:
                slow.append(Straggler(host, name, float(np.exp(-below)), score))
        found += sorted(slow, key=lambda one: one.ratio)[:1]
    return sorted(found, key=lambda one: one.ratio)


def _shortfall(values: Values, errors: Values, host: int) -> tuple[float, float]:
    """By how much a host's logarithm is below the others', and how many deviations that is.

    Both are 0 where it or all others are unknown.
    """
    is_other = np.isfinite(values) & (np.arange(len(values)) != host)
    if not np.isfinite(values[host]) or not is_other.any():
        return 0.0, 0.0
    others = values[is_other]
    middle = float(np.median(others))
    noise = np.hypot(errors[host], np.median(errors[is_other]))
    of_median = (_MEDIAN_VARIANCE if len(others) > 2 else 1.0) / len(others)
    below = middle - float(values[host])
    deviation = np.sqrt(_variance(others) * (1 + of_median) + noise**2)
    return below, float(below / deviation)


def _variance(logs: Values) -> float:
    """Variance of equal hosts, by that of some of them and the usual one."""
    own = (_MAD_OF_NORMAL * float(np.median(np.abs(logs - np.median(logs))))) ** 2
    weight = _MAD_EFFICIENCY * (len(logs) - 1)
    weights = USUAL_SPREAD_WEIGHT + weight
    return max(own, (USUAL_SPREAD_WEIGHT * USUAL_SPREAD**2 + weight * own) / weights)
