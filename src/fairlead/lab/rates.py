# SPDX-License-Identifier: Apache-2.0
"""Rates as people write them ("200 Mbit/s", "25 MB/s") and as the program computes with them."""

from __future__ import annotations

import math
import re

__all__ = ["format_rate", "parse_rate"]

_BYTES_OF_UNIT = {
    f"{prefix}{unit}": scale * factor
    for prefix, scale in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
    for unit, factor in (("bit/s", 0.125), ("B/s", 1.0))
}
_RATE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:e[+]?[0-9]+)?)\s*([A-Za-z/]+)\s*")


def parse_rate(text: str) -> float:
    """Bytes per second from text such as "1Gbit/s" or "25 MB/s".

    Raises:
        ValueError: The text is no rate, or is zero.
    """
    match = _RATE.fullmatch(text)
    if match is None or match[2] not in _BYTES_OF_UNIT:
        raise ValueError(
            f"expected a rate such as '200Mbit/s' or '25MB/s' "
            f"(units: {', '.join(_BYTES_OF_UNIT)}), got {text!r}"
        )
    rate_Bps = float(match[1]) * _BYTES_OF_UNIT[match[2]]
    if not 0 < rate_Bps < math.inf:
        raise ValueError(f"a rate must be > 0 and finite, got {text!r}")
    return rate_Bps


def format_rate(rate_Bps: float) -> str:
    """The rate in the largest unit of bits that keeps a digit before the point."""
    rate_bit_per_s = rate_Bps * 8
    for prefix, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate_bit_per_s >= scale:
            return f"{rate_bit_per_s / scale:.4g}{prefix}bit/s"
    return f"{rate_bit_per_s:.4g}bit/s"
