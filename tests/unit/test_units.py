# SPDX-License-Identifier: Apache-2.0
"""Durations, sizes and rates are read as written, and printed so that they read back."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairlead import units
from fairlead.errors import InputError

DOUBLES = st.floats(min_value=0, allow_infinity=False, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2s", 2.0),
        ("7us", 7e-6),
        ("7 µs", 7e-6),
        ("1.5 h", 5400.0),
        ("250ms", 0.25),
        ("3min", 180.0),
        (".5s", 0.5),
    ],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "size"), [("64KiB", 65536), ("64kB", 64000), ("0.5MiB", 524288), ("8 B", 8)]
)
def test_sizes_tell_binary_from_decimal_units(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "rate"),
    [("1Gbit/s", 125e6), ("200Mbit/s", 25e6), ("1.5MB/s", 1.5e6), ("1KiB/s", 1024)],
)
def test_rates_tell_bits_from_bytes(text: str, rate: float) -> None:
    assert units.parse_rate(text) == pytest.approx(rate, rel=1e-15)


@pytest.mark.parametrize("text", ["", "2", "s", "-1s", "2 parsecs", "1e999s", "nan s", "1s2", "٢s"])
def test_other_durations_are_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="duration"):
        units.parse_duration(text)


@pytest.mark.parametrize("text", ["64kib", "1.5B", "1Kb", "7s"])
def test_other_sizes_are_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="size"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("parse", "show"),
    [
        (units.parse_duration, units.format_duration),
        (units.parse_rate, units.format_rate),
    ],
)
@given(value=DOUBLES)
@example(value=0.0)
@example(value=0.1)
@example(value=5e-324)
@example(value=1.7976931348623157e308)
def test_exact_text_reads_back_as_the_same_number(
    parse: Callable[[str], float], show: Callable[..., str], value: float
) -> None:
    assert parse(show(value, exact=True)) == value


@given(size=st.integers(min_value=0, max_value=2**53))
def test_exact_text_of_a_size_reads_back(size: int) -> None:
    assert units.parse_size(units.format_size(size, exact=True)) == size


@pytest.mark.parametrize(
    ("value", "show", "text"),
    [
        (2.0, units.format_duration, "2s"),
        (7e-6, units.format_duration, "7µs"),
        (65536, units.format_size, "64KiB"),
        (1000, units.format_size, "1000B"),
        (25e6, units.format_rate, "25MB/s"),
    ],
)
def test_exact_text_takes_the_largest_unit(
    value: float, show: Callable[..., str], text: str
) -> None:
    assert show(value, exact=True) == text


KiB, MiB, TiB = 2.0**10, 2.0**20, 2.0**40


@pytest.mark.parametrize(
    ("value", "show", "text"),
    [
        (1023, units.format_size, "1023 B"),
        (999.6 * KiB, units.format_size, "1000 KiB"),
        (1023.4 * KiB, units.format_size, "1023 KiB"),
        (1023.9 * KiB, units.format_size, "1 MiB"),
        (9.996 * MiB, units.format_size, "10 MiB"),
        (12345 * TiB, units.format_size, "12345 TiB"),
        (999.4e3, units.format_rate, "999 kB/s"),
        (999.6e3, units.format_rate, "1 MB/s"),
        (125e9, units.format_bit_rate, "1000 Gbit/s"),
        (999.6e-9, units.format_duration, "1 µs"),
        (59.94, units.format_duration, "59.9 s"),
        (59.96, units.format_duration, "1 min"),
        (3599, units.format_duration, "1 h"),
        (5000 * 3600, units.format_duration, "5000 h"),
        (1e-14, units.format_duration, "0.00001 ns"),
        (0, units.format_duration, "0 s"),
        (0, units.format_bit_rate, "0 bit/s"),
        (-1500, units.format_size, "-1.46 KiB"),
    ],
)
def test_rounded_text_goes_on_to_the_next_unit(
    value: float, show: Callable[..., str], text: str
) -> None:
    assert show(value) == text


@given(value=st.floats(min_value=1e-7, max_value=1e18))
@pytest.mark.parametrize(
    ("show", "parse"),
    [
        (units.format_duration, units.parse_duration),
        (units.format_rate, units.parse_rate),
        (units.format_bit_rate, units.parse_rate),
        (units.format_size, lambda text: float(text.split()[0]) * units.SIZES[text.split()[1]]),
    ],
)
def test_text_for_people_has_no_exponent(
    show: Callable[[float], str], parse: Callable[[str], float], value: float
) -> None:
    assert "e" not in show(value)
    assert parse(show(value)) == pytest.approx(value, rel=0.005)


@given(value=st.floats(min_value=1e-9, max_value=1e9))
def test_text_for_people_is_right_to_three_digits(value: float) -> None:
    assert units.parse_duration(units.format_duration(value)) == pytest.approx(value, rel=0.005)


def test_unknown_values_have_text_for_people_only() -> None:
    assert units.format_duration(math.nan) == "-"
    assert units.format_rate(math.inf) == "inf"
    with pytest.raises(InputError, match="finite"):
        units.format_duration(math.nan, exact=True)
