# SPDX-License-Identifier: Apache-2.0
"""Durations, sizes and rates as text: one parser at the border, and its exact inverse."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from fairlead.errors import InputError

__all__ = [
    "format_bit_rate",
    "format_duration",
    "format_rate",
    "format_size",
    "parse_duration",
    "parse_rate",
    "parse_size",
]

DURATIONS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0},
    **{"min": 60.0, "h": 3600.0, "d": 86400.0},
}
SIZES = {
    **{"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
}
SPREAD_SIZES = {
    **{"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30},
    **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
}
"""As the paper SPREAD writes sizes. Without kB and TB, which are powers of ten elsewhere."""
RATES = {
    **{f"{unit}/s": float(factor) for unit, factor in SIZES.items()},
    **{"bit/s": 1 / 8, "kbit/s": 1e3 / 8, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8},
}

DURATION_UNITS = ("ns", "µs", "ms", "s", "min", "h")
SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
RATE_UNITS = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")
BIT_RATE_UNITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s")
"""Units in which values are printed, ascending; the charts of the report use the same."""

_NUMBER_AND_UNIT = re.compile(r"\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)\s*([A-Za-zµ/]+)\s*", re.A)


def parse_duration(text: str) -> float:
    """Seconds from text such as "2s", "7us" (or "7µs") or "1.5 h".

    Raises:
        InputError: The text is not a number with a unit of time.
    """
    return _parse(text, "duration", DURATIONS)


def parse_size(text: str, units: Mapping[str, float] = SIZES) -> int:
    """Bytes from text such as "64KiB" (1024) or "64kB" (1000), or with other units.

    Raises:
        InputError: The text is not a number with a unit of size, or not a whole number of bytes.
    """
    size_bytes = _parse(text, "size", units)
    if size_bytes != int(size_bytes):
        raise InputError(f"size {text!r}: {size_bytes} bytes is not a whole number")
    return int(size_bytes)


def parse_rate(text: str) -> float:
    """Bytes per second from text such as "200Mbit/s" or "1.5MB/s".

    Raises:
        InputError: The text is not a number with a unit of rate.
    """
    return _parse(text, "rate", RATES)


def format_duration(duration_s: float, *, exact: bool = False) -> str:
    """Text of a duration; "-" where unknown.

    Args:
        duration_s: Seconds.
        exact: As many digits as `parse_duration` needs to return exactly the same number, which
            must then be finite and >= 0; otherwise three, for display.
    """
    return _format(duration_s, DURATION_UNITS, DURATIONS, exact)


def format_size(size_bytes: float, *, exact: bool = False) -> str:
    """Text of a size in binary units; "-" where unknown. `exact` as in `format_duration`."""
    return _format(size_bytes, SIZE_UNITS, SIZES, exact)


def format_rate(rate_Bps: float, *, exact: bool = False) -> str:
    """Text of a rate in bytes per second; "-" where unknown. `exact` as in `format_duration`."""
    return _format(rate_Bps, RATE_UNITS, RATES, exact)


def format_bit_rate(rate_Bps: float) -> str:
    """Text of a rate: three digits, in bits per second as in the names of links."""
    return _format(rate_Bps, BIT_RATE_UNITS, RATES, exact=False)


def three_digits(value: float) -> str:
    """A finite number to three significant digits, or to all of its whole part, as 1023.

    There is no exponent; what is below 1e-9 becomes 0.
    """
    if value == 0:
        return "0"
    # The exponent of the rounded value: 9.996 is 10.0, not 10.00.
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{value:.{min(max(0, 2 - exponent), 9)}f}"


def suited_unit(value: float, factors: Sequence[float]) -> int:
    """Index of the unit in which a finite value is printed with three digits.

    Args:
        value: In base units.
        factors: Base units of each unit, ascending.

    Returns:
        The largest that leaves at least 1 once the digits are rounded: 1023.9 KiB are 1 MiB, and
        59.96 s a minute. The smallest where none does.
    """
    index = 0
    for larger, factor in enumerate(factors[1:], 1):
        rounded = float(three_digits(abs(value) / factors[index])) * factors[index]
        if rounded >= factor * (1 - 1e-9):
            index = larger
    return index


def _parse(text: str, what: str, units: Mapping[str, float]) -> float:
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None or match[2] not in units:
        raise InputError(f"{what} {text!r}: expected a number and one of {', '.join(units)}")
    value = float(match[1]) * units[match[2]]
    if not math.isfinite(value):
        raise InputError(f"{what} {text!r}: is too large")
    return value


def _format(value: float, names: Sequence[str], units: Mapping[str, float], exact: bool) -> str:
    """The value in the largest unit of `names`, ascending, that leaves at least 1."""
    if exact:
        return _exact(value, names, units)
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "inf"
    if value == 0:
        return f"0 {_base(names, units)}"
    index = suited_unit(value, [units[name] for name in names])
    name, number = names[index], three_digits(value / units[names[index]])
    if index and abs(float(number)) < 1:  # It was rounded up: 59.96 s are 0.999 min.
        number = f"{math.copysign(1, value):.0f}"
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {name}"


def _exact(value: float, names: Sequence[str], units: Mapping[str, float]) -> str:
    """The value in the largest unit from which it comes back unchanged."""
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{value} has no exact text; it must be finite and >= 0")
    for name in reversed([name for name in names if value >= units[name]]):
        # A whole number without its point: "2s", not "2.0s".
        number = repr(value / units[name]).removesuffix(".0")
        if float(number) * units[name] == value:
            return number + name
    # The base unit always works: the text of a float is read back as the same float.
    return repr(value).removesuffix(".0") + _base(names, units)


def _base(names: Sequence[str], units: Mapping[str, float]) -> str:
    """The unit that the others are multiples or parts of; the smallest of bit rates."""
    return next((name for name in names if units[name] == 1), names[0])
