# SPDX-License-Identifier: Apache-2.0
"""What the measuring program reports of one host's rates, checked before anything compares it.

A report that is incomplete makes its host unknown, with the reason: the rates of the others, and
the pairs, stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fairlead.errors import InputError
from fairlead.model.host_rates import KINDS, RATES

__all__ = ["HostRow", "UnknownHost", "problems_of", "read_host_row"]

Interval = tuple[float, float, float]

UNKNOWN: Interval = (math.nan, math.nan, math.nan)


class HostRow(NamedTuple):
    """Rates of a host.

    Attributes:
        num_cores: CPUs that were used together, at least 1.
        intervals: Value of each rate of `RATES`, lower and upper end of its 95 % interval; three
            times `nan` where it is unknown. At least two rates are known.
    """

    num_cores: int
    intervals: tuple[Interval, ...]


class UnknownHost(NamedTuple):
    """A host whose rates are unknown, and why."""

    problem: str


def read_host_row(row: Any) -> HostRow | UnknownHost:
    """A row of the program's document: number of cores, and of each rate three numbers.

    Args:
        row: As JSON has it: three times null where a rate could not be measured; null instead of
            the row where the host did not report.
    """
    try:
        return _check_row(row)
    except InputError as error:
        return UnknownHost(str(error))


def _check_row(row: Any) -> HostRow:
    if row is None:
        raise InputError("it did not report all passes")
    if not isinstance(row, list) or len(row) != 1 + len(RATES):
        raise InputError(f"expected a number of cores and {len(RATES)} rates, got {row!r}")
    num_cores, *found = row
    if not isinstance(num_cores, int) or isinstance(num_cores, bool) or num_cores < 1:
        raise InputError(f"num_cores: expected a whole number > 0, got {num_cores!r}")
    for name, interval in zip(RATES, found, strict=True):
        if interval != [None] * 3 and not _is_interval(interval):
            raise InputError(f"{name}: expected a value > 0 within its interval, got {interval!r}")
    _check_known([interval != [None] * 3 for interval in found])
    return HostRow(
        num_cores,
        tuple(
            UNKNOWN if interval[0] is None else (interval[0], interval[1], interval[2])
            for interval in found
        ),
    )


def _check_known(is_known: Sequence[bool]) -> None:
    if not any(is_known):
        raise InputError("no rate could be measured")
    for one, every in KINDS:
        if is_known[one] != is_known[every]:
            known, unknown = (one, every) if is_known[one] else (every, one)
            raise InputError(f"{RATES[known]} is known, {RATES[unknown]} is not")


def _is_interval(numbers: Any) -> bool:
    if not isinstance(numbers, list) or len(numbers) != 3 or not all(map(_is_rate, numbers)):
        return False
    value, low, high = numbers
    return bool(low <= value <= high)


def _is_rate(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value > 0


def problems_of(rows: Sequence[HostRow | UnknownHost], hosts: Sequence[str]) -> dict[str, str]:
    """By host: why its rates are unknown; hosts whose rates are known are missing."""
    return {
        host: row.problem
        for host, row in zip(hosts, rows, strict=True)
        if isinstance(row, UnknownHost)
    }
