# SPDX-License-Identifier: Apache-2.0
"""How fast each host computes, which ones are stragglers, and how that weighs in a placement."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError

__all__ = ["RATES", "HostRates", "HostSpeeds", "Straggler", "host_speeds", "stragglers"]

Values = npt.NDArray[np.float64]

RATES = (
    "one_core_multiply_adds",
    "all_cores_multiply_adds",
    "one_core_memory_Bps",
    "all_cores_memory_Bps",
)
"""What is measured of each host: double-precision multiply-adds per second, and bytes per second of
STREAM's triad, by one core and by all allowed ones at the same time."""

LEAST_RATIO = 0.05
"""A smaller difference between hosts is ignored: turbo frequencies differ as much from one minute
to the next."""

STRAGGLER_SCORE = 3.5
"""Modified z-score from which a value is an outlier. Source: Iglewicz and Hoaglin, How to Detect
and Handle Outliers (1993)."""

_NORMAL_95 = 1.96
_MAD_OF_NORMAL = 1.4826


@dataclasses.dataclass(frozen=True, eq=False)
class HostRates:
    """Measured rates of H hosts.

    Attributes:
        values: Value of each rate of `RATES`, lower and upper end of its 95 % interval, shape
            (H, 4, 3); `nan` where a host was not measured.
        num_cores: Cores that were used together, shape (H,); 0 where a host was not measured.
    """

    values: Values
    num_cores: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if values.ndim != 3 or values.shape[1:] != (len(RATES), 3):
            raise ShapeError(f"host_rates: expected shape (H, {len(RATES)}, 3), got {values.shape}")
        if np.any(values <= 0) or np.any(np.isinf(values)):
            raise InputError("host_rates: every value must be finite and > 0, or nan")
        if np.any(values[..., 1] > values[..., 2]):
            raise InputError("host_rates: the lower end of an interval is above the upper one")
        num_cores = np.ascontiguousarray(self.num_cores)
        if num_cores.shape != values.shape[:1]:
            raise ShapeError(
                f"host_cores: expected shape {values.shape[:1]}, got {num_cores.shape}"
            )
        if num_cores.dtype.kind not in "iu" or np.any(num_cores < 0):
            raise InputError("host_cores: every value must be a whole number >= 0")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "num_cores", num_cores.astype(np.int64))

    @property
    def rates(self) -> Values:
        """Rates of each host in the order of `RATES`, shape (H, 4)."""
        return self.values[..., 0]

    def log_errors(self) -> Values:
        """Standard errors of the logarithms of the rates, shape (H, 4)."""
        error: Values = np.log(self.values[..., 2] / self.values[..., 1]) / (2 * _NORMAL_95)
        return error

    def select(self, rows: npt.NDArray[np.int64]) -> HostRates:
        """The rates of these hosts, in this order."""
        return HostRates(self.values[rows], self.num_cores[rows])

    def facts(self, hosts: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """By host: number of cores, and each rate with its interval; JSON-serialisable.

        Hosts that were not measured are left out.
        """
        return {
            host: {"num_cores": int(self.num_cores[index])}
            | {name: _interval(self.values[index, rate]) for rate, name in enumerate(RATES)}
            for index, host in enumerate(hosts)
            if np.isfinite(self.rates[index]).any()
        }


def _interval(numbers: Values) -> dict[str, float | None]:
    ends = ("value", "low", "high")
    return {
        end: float(value) if np.isfinite(value) else None
        for end, value in zip(ends, numbers, strict=True)
    }


class Straggler(NamedTuple):
    """A host that is slower than the others, beyond its own spread and theirs.

    Attributes:
        host: Its position.
        rate: One of `RATES`.
        ratio: Its rate as part of the median of the others.
        score: How many standard deviations it is below them.
    """

    host: int
    rate: str
    ratio: float
    score: float


def stragglers(rates: HostRates) -> list[Straggler]:
    """The stragglers, each by its worst rate; the slowest first.

    A host is one if its rate is lower than the median of the others by at least `LEAST_RATIO`, and
    by at least `STRAGGLER_SCORE` standard deviations. These are of the others' values (by the
    median of absolute deviations), of its own repeats, and of the repeats of the others, added in
    quadrature, all of logarithms.
    """
    values, errors = np.log(rates.rates), rates.log_errors()
    found = []
    for host in range(len(values)):
        others = np.arange(len(values)) != host
        worst: Straggler | None = None
        for rate, name in enumerate(RATES):
            known = others & np.isfinite(values[:, rate])
            if not known.any() or not np.isfinite(values[host, rate]):
                continue
            middle = float(np.median(values[known, rate]))
            spread = _MAD_OF_NORMAL * float(np.median(np.abs(values[known, rate] - middle)))
            noise = [errors[host, rate], float(np.median(errors[known, rate]))]
            deviation = float(np.sqrt(spread**2 + np.nansum(np.square(noise))))
            below = middle - float(values[host, rate])
            score = below / deviation if deviation > 0 else np.inf
            is_slow = below >= -np.log1p(-LEAST_RATIO) and score >= STRAGGLER_SCORE
            if is_slow and (worst is None or np.exp(-below) < worst.ratio):
                worst = Straggler(host, name, float(np.exp(-below)), float(score))
        if worst is not None:
            found.append(worst)
    return sorted(found, key=lambda one: one.ratio)


class HostSpeeds(NamedTuple):
    """Speeds of H hosts; 1 is one core of the median host.

    Attributes:
        one_core: Speed of one core of each, shape (H,).
        all_cores: Speed of all cores of each together, shape (H,).
    """

    one_core: Values
    all_cores: Values

    def select(self, rows: npt.NDArray[np.int64]) -> HostSpeeds:
        """Those of these hosts, in this order."""
        return HostSpeeds(self.one_core[rows], self.all_cores[rows])

    def seconds_per_work(self, host: int, num_ranks: int) -> float:
        """Time of a second of work where so many ranks compute on a host at the same time."""
        return float(max(1 / self.one_core[host], num_ranks / self.all_cores[host]))


def host_speeds(rates: HostRates) -> HostSpeeds | None:
    """Speeds of the hosts; None where all are alike within their spread.

    What a program needs more, multiply-adds or memory, is unknown: the speed is the geometric mean
    of both. A host that differs from the median by less than `LEAST_RATIO`, or by less than
    `STRAGGLER_SCORE` standard errors of its own repeats and those of the usual host, in quadrature,
    counts as the median host; so does one that was not measured. Six repeats alone may agree by
    chance.
    """
    values, errors = np.log(rates.rates), rates.log_errors()
    if not np.isfinite(values).all(axis=1).any():
        return None
    middle = np.nanmedian(values, axis=0)
    differences = values - middle
    noise = np.hypot(np.nan_to_num(errors), np.nanmedian(errors, axis=0))
    with np.errstate(invalid="ignore"):
        is_clear = np.abs(differences) > np.maximum(np.log1p(LEAST_RATIO), STRAGGLER_SCORE * noise)
    differences = np.where(is_clear, differences, 0.0)
    if not is_clear.any():
        return None
    one, every = differences[:, 0::2].mean(axis=1), differences[:, 1::2].mean(axis=1)
    cores_of_median = (middle[1::2] - middle[0::2]).mean()
    return HostSpeeds(np.exp(one), np.exp(every + cores_of_median))
