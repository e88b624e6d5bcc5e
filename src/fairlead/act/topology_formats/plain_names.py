# SPDX-License-Identifier: Apache-2.0
"""Names of groups in the letters that a form allows, each still unique."""

from __future__ import annotations

from collections.abc import Iterable

from fairlead.errors import InputError

__all__ = ["plain_names", "require_plain_hosts"]

MOST_LETTERS = 63
"""Longest value of a label in Kubernetes. Source: Kubernetes, labels and selectors."""


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Each name in letters, digits, `-`, `_` and `.`, with letters or digits at its ends."""
    plain: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        letters = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
        # Names may differ in their ends only, as those of InfiniBand's switches do.
        short = letters.strip("-_.")[-MOST_LETTERS:].strip("-_.") or "group"
        unique, number = short, 1
        while unique in taken:
            number += 1
            unique = f"{short[: MOST_LETTERS - len(str(number)) - 1]}-{number}"
        taken.add(unique)
        plain[name] = unique
    return plain


def require_plain_hosts(hosts: Iterable[str], form: str) -> None:
    """Check that names of hosts can stand in a form: they must stay as they are.

    Raises:
        InputError: One has another letter; the message names it.
    """
    for host in hosts:
        if not host.isascii() or not all(c.isalnum() or c in "-_." for c in host):
            raise InputError(
                f"{form}: host {host!r}: expected a name of letters, digits, '-', '_' and '.'"
            )
