# SPDX-License-Identifier: Apache-2.0
"""Values from the texts of options; errors are wrong usage, and name the allowed values."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import typer

from fairlead.errors import InputError
from fairlead.units import parse_duration

Value = TypeVar("Value")


def usage(parse: Callable[[str], Value]) -> Callable[[Any], Value]:
    """The parser of an option: errors of `parse` are wrong usage, with exit code 2.

    A default, which is not text, is used as it is.
    """

    def check(given: Any) -> Value:
        try:
            return parse(given) if isinstance(given, str) else given
        except InputError as error:
            raise typer.BadParameter(str(error)) from error

    return check


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """A parser for `usage`: the text itself, if it is one of these names."""
    allowed = tuple(names)

    def parse(text: str) -> str:
        if text not in allowed:
            raise InputError(f"unknown name {text!r}; there are {', '.join(allowed)}")
        return text

    return parse


def several_of(names: Iterable[str]) -> Callable[[str], str]:
    """The same for names separated by commas; blanks around them are removed."""
    parse = one_of(names)
    return lambda text: ",".join(parse(name.strip()) for name in text.split(","))


def _number(text: str) -> float:
    """The number in a text; `nan`, which is in no range, where there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def above_zero(text: str) -> float:
    """The number of an option's text.

    Raises:
        BadParameter: It is not a number, or not above 0.
    """
    number = _number(text)
    if not (math.isfinite(number) and number > 0):
        raise typer.BadParameter(f"expected a number > 0, got {text!r}")
    return number


def part_of_all(text: str) -> float:
    """The fraction in an option's text.

    Raises:
        BadParameter: It is not a number, not above 0, or above 1.
    """
    number = above_zero(text)
    if number > 1:
        raise typer.BadParameter(f"expected a part, at most 1, got {text!r}")
    return number


def relay_zones(text: str) -> tuple[float, float]:
    """Where MCM's zones medium and high begin, "2,4", for `usage`.

    Raises:
        InputError: These are not two numbers from 1, or the second is less than the first.
    """
    parts = text.split(",")
    medium, high = map(_number, parts if len(parts) == 2 else ("", ""))
    if not 1 <= medium <= high < math.inf:
        raise InputError(f"expected MEDIUM,HIGH with 1 <= MEDIUM <= HIGH, got {text!r}")
    return medium, high


def time_limit(text: str) -> float:
    """Seconds, for `usage`.

    Raises:
        InputError: It is not a time, or it is 0.
    """
    seconds = parse_duration(text)
    if seconds == 0:
        raise InputError(f"must be > 0, got {text!r}")
    return seconds


def drift_ratio(text: str) -> float | None:
    """A number above 0, or `never`, which is None; for `usage`.

    Raises:
        InputError: It is neither.
    """
    if text == "never":
        return None
    number = _number(text)
    if not 0.01 <= number < math.inf:
        raise InputError(f"expected a number of at least 0.01, or never, got {text!r}")
    return number


def probability(text: str) -> float:
    """A number from 0 to 1, for `usage`.

    Raises:
        InputError: It is not one.
    """
    number = _number(text)
    if not 0 <= number <= 1:
        raise InputError(f"expected a number in 0..1, got {text!r}")
    return number


def grid_sizes(text: str) -> tuple[int, ...]:
    """Sizes of a grid from `4x4x4`, for `usage`.

    Raises:
        InputError: It is none.
    """
    sizes = text.split("x")
    if not all(size.isdecimal() and int(size) > 0 for size in sizes):
        raise InputError(f"expected sizes such as 4x4x4, got {text!r}")
    return tuple(map(int, sizes))


def split_arguments(text: str) -> tuple[str, ...]:
    """Split a string of arguments as a shell would.

    Raises:
        BadParameter: A quotation in it is not closed.
    """
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r}: {error}") from error
