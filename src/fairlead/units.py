# SPDX-License-Identifier: Apache-2.0
"""Durations, sizes and rates as text: one parser at the border, and its exact inverse."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from fairlead.errors import InputError

__all__ = [
    "format_duration",
    "format_rate",
    "format_size",
    "parse_duration",
    "parse_rate",
    "parse_size",
]

DURATIONS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SIZES = {
    **{"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
}
RATES = {
    **{f"{unit}/s": float(factor) for unit, factor in SIZES.items()},
    **{"bit/s": 1 / 8, "kbit/s": 1e3 / 8, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8},
}

_NUMBER_AND_UNIT = re.compile(r"\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)\s*([A-Za-z/]+)\s*", re.A)


def parse_duration(text: str) -> float:
    """Seconds from text such as "2s", "7us" or "1.5 h".

    Raises:
        InputError: The text is no number with a unit of time.
    """
    return _parse(text, "duration", DURATIONS)


def parse_size(text: str) -> int:
    """Bytes from text such as "64KiB" (1024) or "64kB" (1000).

    Raises:
        InputError: The text is no number with a unit of size, or no whole number of bytes.
    """
    size_bytes = _parse(text, "size", SIZES)
    if size_bytes != int(size_bytes):
        raise InputError(f"size {text!r}: {size_bytes} bytes is not a whole number")
    return int(size_bytes)


def parse_rate(text: str) -> float:
    """Bytes per second from text such as "200Mbit/s" or "1.5MB/s".

    Raises:
        InputError: The text is no number with a unit of rate.
    """
    return _parse(text, "rate", RATES)


def format_duration(duration_s: float) -> str:
    """Text for people, three digits; "-" where unknown."""
    return _format(duration_s, {unit: DURATIONS[unit] for unit in ("ns", "us", "ms", "s", "min", "h")})


def format_size(size_bytes: float) -> str:
    """Text for people, three digits, binary units; "-" where unknown."""
    return _format(size_bytes, {unit: SIZES[unit] for unit in ("B", "KiB", "MiB", "GiB", "TiB")})


def format_rate(rate_Bps: float) -> str:
    """Text for people, three digits, bytes per second; "-" where unknown."""
    units = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")
    return _format(rate_Bps, {unit: RATES[unit] for unit in units})


def _parse(text: str, what: str, units: Mapping[str, float]) -> float:
    match = _NUMBER_AND_UNIT.fullmatch(text)
    if match is None or match[2] not in units:
        raise InputError(f"{what} {text!r}: expected a number and one of {', '.join(units)}")
    value = float(match[1]) * units[match[2]]
    if not math.isfinite(value):
        raise InputError(f"{what} {text!r}: is too large")
    return value


def _format(value: float, units: Mapping[str, float]) -> str:
    """The value in the largest unit that leaves at least 1, so that a parser reads it back."""
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "inf"
    smallest = min(units, key=lambda unit: units[unit])
    fitting = [unit for unit in units if abs(value) >= units[unit]] or [smallest]
    unit = max(fitting, key=lambda name: units[name])
    return f"{value / units[unit]:.3g} {unit}"
