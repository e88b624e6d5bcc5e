# SPDX-License-Identifier: Apache-2.0
"""What options and numbers may be, told in one form."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairlead.errors import InputError

__all__ = ["require_known", "require_scale", "require_within"]


def require_known(options: object, known: Mapping[str, Collection[str]]) -> None:
    """Check the fields of `options` that `known` lists.

    Raises:
        InputError: A field holds no word that is known for it; the message lists those there are.
    """
    for field, words in known.items():
        value = getattr(options, field)
        if value not in words:
            raise InputError(f"{field}: unknown {value!r}; there are {', '.join(words)}")


def require_within(what: str, value: float, least: float, most: float) -> None:
    """Check a number.

    Raises:
        InputError: It is outside of least to most, or no number.
    """
    if not least <= value <= most:
        raise InputError(f"{what}: must be from {least} to {most}, got {value}")


def require_scale(scale: float) -> None:
    """Check the part of the messages that is to be simulated.

    Raises:
        InputError: It is no part, above 0 and at most 1.
    """
    if not 0 < scale <= 1:
        raise InputError(f"scale: must be above 0 and at most 1, got {scale}")
