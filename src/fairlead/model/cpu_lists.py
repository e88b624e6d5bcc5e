# SPDX-License-Identifier: Apache-2.0
"""Lists of CPUs in the form of cpuset(7), such as "0-3,8"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairlead.errors import InputError

__all__ = ["cpus_of_list", "list_of_cpus"]

_PART = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
_MOST_CPUS = 1 << 16


def cpus_of_list(text: str) -> frozenset[int]:
    """The CPUs of a list.

    Raises:
        InputError: It has another form.
    """
    cpus: set[int] = set()
    for part in text.split(",") if text else ():
        found = _PART.fullmatch(part.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last < _MOST_CPUS:
            raise InputError(f"CPUs {text!r}: expected a list such as '0-3,8'")
        cpus.update(range(first, last + 1))
    return frozenset(cpus)


def list_of_cpus(cpus: Iterable[int]) -> str:
    """The list of these CPUs, with ranges."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and parts[-1][-1] == cpu - 1:
            parts[-1][1:] = [cpu]
        else:
            parts.append([cpu])
    return ",".join("-".join(map(str, part)) for part in parts)
