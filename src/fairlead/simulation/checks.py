# SPDX-License-Identifier: Apache-2.0
"""Checks of options and numbers, with messages of one form."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairlead.errors import InputError

__all__ = ["require_known", "require_scale", "require_within"]


def require_known(options: object, known: Mapping[str, Collection[str]]) -> None:
    """Check the fields of `options` that `known` lists.

    Raises:
        InputError: The value of a field is not in its list; the message has the list.
    """
    for field, words in known.items():
        value = getattr(options, field)
        if value not in words:
            raise InputError(f"{field}: unknown {value!r}; there are {', '.join(words)}")


def require_within(what: str, value: float, least: float, most: float) -> None:
    """Check a number.

    Raises:
        InputError: It is not a number, or not from least to most.
    """
    if not least <= value <= most:
        raise InputError(f"{what}: must be from {least} to {most}, got {value}")


def require_scale(scale: float) -> None:
    """Check the part of the messages that is to be simulated.

    Raises:
        InputError: It is not above 0 and at most 1.
    """
    if not 0 < scale <= 1:
        raise InputError(f"scale: must be above 0 and at most 1, got {scale}")
