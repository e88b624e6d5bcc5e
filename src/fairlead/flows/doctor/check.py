# SPDX-License-Identifier: Apache-2.0
"""One thing that a run needs, and what was found."""

from __future__ import annotations

import dataclasses
from typing import Literal

__all__ = ["Check", "failed", "passed", "warned"]


@dataclasses.dataclass(frozen=True)
class Check:
    """A row of the table.

    Attributes:
        name: What was checked.
        state: "ok"; "warning" where a run works without it; "failed" where it does not.
        found: What was found.
        remedy: What to do; empty where nothing is.
    """

    name: str
    state: Literal["ok", "warning", "failed"]
    found: str
    remedy: str = ""


def passed(name: str, found: str) -> Check:
    """A check that found what a run needs."""
    return Check(name, "ok", found)


def warned(name: str, found: str, remedy: str) -> Check:
    """A check that found something missing without which a run works."""
    return Check(name, "warning", found, remedy)


def failed(name: str, found: str, remedy: str) -> Check:
    """A check that found what makes a run fail."""
    return Check(name, "failed", found, remedy)
