# SPDX-License-Identifier: Apache-2.0
"""How fast each host computes, and how that weighs in a placement."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.errors import InputError, ShapeError

__all__ = [
    "KINDS",
    "LEAST_RATIO",
    "OUTLIER_SCORE",
    "RATES",
    "HostRates",
    "HostSpeeds",
    "host_speeds",
]

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

OUTLIER_SCORE = 3.5
"""Modified z-score from which a value is an outlier. Source: Iglewicz and Hoaglin, How to Detect
and Handle Outliers (1993)."""

KINDS = ((0, 1), (2, 3))
"""Rates of one core and of all cores that are known together: arithmetic, and memory."""

_NORMAL_95 = 1.96


@dataclasses.dataclass(frozen=True, eq=False)
class HostRates:
    """Measured rates of H hosts.

    Attributes:
        values: Value of each rate of `RATES`, lower and upper end of its 95 % interval, shape
            (H, 4, 3); `nan` where it is unknown. Of one core and of all it is known together.
        num_cores: CPUs that were used together, shape (H,); 0 where nothing is known of a host.

    Raises:
        ShapeError: An array has another shape.
        InputError: A value is not possible, or only a part of what belongs together is known.
    """

    values: Values
    num_cores: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if values.ndim != 3 or values.shape[1:] != (len(RATES), 3):
            raise ShapeError(f"host_rates: expected shape (H, {len(RATES)}, 3), got {values.shape}")
        if np.any(values <= 0) or np.any(np.isinf(values)):
            raise InputError("host_rates: every value must be finite and > 0, or nan")
        value, low, high = np.moveaxis(values, 2, 0)
        if np.any(low > value) or np.any(value > high):
            raise InputError("host_rates: a value is outside of its interval")
        num_cores = np.ascontiguousarray(self.num_cores)
        if num_cores.shape != values.shape[:1]:
            raise ShapeError(
                f"host_cores: expected shape {values.shape[:1]}, got {num_cores.shape}"
            )
        if num_cores.dtype.kind not in "iu" or np.any(num_cores < 0):
            raise InputError("host_cores: every value must be a whole number >= 0")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "num_cores", num_cores.astype(np.int64))
        self._check_known()

    def _check_known(self) -> None:
        known = np.isfinite(self.values)
        for host, rate in np.argwhere(known.any(axis=2) & ~known.all(axis=2)):
            raise InputError(
                f"host_rates: host {host}: {RATES[rate]} needs a value with both ends of its "
                f"interval, got {self.values[host, rate].tolist()}"
            )
        for one, every in KINDS:
            for host in np.flatnonzero(known[:, one, 0] != known[:, every, 0]):
                raise InputError(
                    f"host_rates: host {host}: {RATES[one]} and {RATES[every]} must be known "
                    f"together, got {self.rates[host, one]} and {self.rates[host, every]}"
                )
        for host in np.flatnonzero(known.any(axis=(1, 2)) != (self.num_cores > 0)):
            raise InputError(
                f"host_cores: host {host}: expected 0 where no rate is known and else more, got "
                f"{self.num_cores[host]}"
            )

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
    of both, or of that which is known. A host that differs from the median by less than
    `LEAST_RATIO`, or by less than `OUTLIER_SCORE` standard errors of its own repeats and those of
    the usual host, in quadrature, counts as the median host; so does one that was not measured. Six
    repeats alone may agree by chance.
    """
    kinds = [kind for kind in KINDS if np.isfinite(rates.rates[:, kind[0]]).any()]
    if not kinds:
        return None
    one_core, all_cores = ([*of_kinds] for of_kinds in zip(*kinds, strict=True))
    known = [*one_core, *all_cores]
    values, errors = np.log(rates.rates[:, known]), rates.log_errors()[:, known]
    middle = np.nanmedian(values, axis=0)
    differences = values - middle
    noise = np.hypot(np.nan_to_num(errors), np.nanmedian(errors, axis=0))
    with np.errstate(invalid="ignore"):
        is_clear = np.abs(differences) > np.maximum(np.log1p(LEAST_RATIO), OUTLIER_SCORE * noise)
    if not is_clear.any():
        return None
    differences = np.where(is_clear, differences, 0.0)
    num_known = np.isfinite(values[:, : len(kinds)]).sum(axis=1)
    sums = differences.reshape(len(values), 2, len(kinds)).sum(axis=2)
    one, every = (sums / np.maximum(num_known, 1)[:, None]).T
    cores_of_median = (middle[len(kinds) :] - middle[: len(kinds)]).mean()
    return HostSpeeds(np.exp(one), np.exp(every + cores_of_median))
