# SPDX-License-Identifier: Apache-2.0
"""The checks of `fairlead doctor` as a table and as facts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from fairlead.flows.doctor.check import Check


def table(checks: Sequence[Check]) -> Table:
    """A row for each check."""
    made = Table(box=None, pad_edge=False)
    for name in ("", "check", "found", "remedy"):
        made.add_column(name, overflow="fold")
    for check in checks:
        made.add_row(check.state, check.name, check.found, check.remedy)
    return made


def facts(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """The same for other programs."""
    return [dataclasses.asdict(check) for check in checks]
