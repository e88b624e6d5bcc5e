# SPDX-License-Identifier: Apache-2.0
"""Options that are one of a few words each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairlead.errors import InputError

__all__ = ["require_known"]


def require_known(options: object, known: Mapping[str, Collection[str]]) -> None:
    """Check the fields of `options` that `known` lists.

    Raises:
        InputError: A field holds no word that is known for it; the message lists those there are.
    """
    for field, words in known.items():
        value = getattr(options, field)
        if value not in words:
            raise InputError(f"{field}: unknown {value!r}; there are {', '.join(words)}")
