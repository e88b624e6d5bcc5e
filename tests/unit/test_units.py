# SPDX-License-Identifier: Apache-2.0
"""Durations, sizes and rates: what is printed can be read back, and what is wrong is named."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairlead as fl
from fairlead import units


@pytest.mark.parametrize(
    ("text", "duration_s"),
    [("2s", 2), ("7us", 7e-6), ("1.5 h", 5400), ("2min", 120), ("1e3ms", 1), (".5s", 0.5)],
)
def test_duration_is_read(text: str, duration_s: float) -> None:
    assert units.parse_duration(text) == pytest.approx(duration_s)


@pytest.mark.parametrize(
    ("text", "size_bytes"), [("64KiB", 65536), ("64kB", 64000), ("8MiB", 2**23), ("1.5kB", 1500)]
)
def test_size_is_read(text: str, size_bytes: int) -> None:
    assert units.parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "rate_Bps"), [("200Mbit/s", 25e6), ("1.5MB/s", 1.5e6), ("1Gbit/s", 125e6)]
)
def test_rate_is_read(text: str, rate_Bps: float) -> None:
    assert units.parse_rate(text) == pytest.approx(rate_Bps)


@pytest.mark.parametrize("text", ["", "2", "s", "-2s", "2 parsecs", "2s3", "nan s", "1e999s", "٢s"])
def test_what_is_no_duration_is_named(text: str) -> None:
    with pytest.raises(fl.InputError, match="duration"):
        units.parse_duration(text)


def test_fraction_of_a_byte_is_refused() -> None:
    with pytest.raises(fl.InputError, match="not a whole number"):
        units.parse_size("1.5B")


magnitudes = st.floats(1e-9, 1e12, allow_nan=False)


@given(duration_s=magnitudes)
def test_printed_duration_is_read_back_to_three_digits(duration_s: float) -> None:
    printed = units.format_duration(duration_s)
    assert units.parse_duration(printed) == pytest.approx(duration_s, rel=5.1e-3)


@given(size_bytes=st.integers(1, 2**60))
def test_printed_size_is_read_back_to_three_digits(size_bytes: int) -> None:
    number, unit = units.format_size(size_bytes).split()
    assert float(number) * units.SIZES[unit] == pytest.approx(size_bytes, rel=5.1e-3)


@given(rate_Bps=magnitudes)
def test_printed_rate_is_read_back_to_three_digits(rate_Bps: float) -> None:
    printed = units.format_rate(rate_Bps)
    assert units.parse_rate(printed) == pytest.approx(rate_Bps, rel=5.1e-3)


@pytest.mark.parametrize("show", [units.format_duration, units.format_size, units.format_rate])
def test_unknown_value_is_a_dash(show) -> None:
    assert show(math.nan) == "-"
