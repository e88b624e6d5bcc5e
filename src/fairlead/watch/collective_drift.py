# SPDX-License-Identifier: Apache-2.0
"""What the preload library did about collectives whose times drifted, by the files it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pydantic

from fairlead.watch.run_records import read_records

__all__ = ["DriftCounts", "drift_counts"]

_Count = Annotated[int, pydantic.Field(ge=0)]
_Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


class DriftCounts(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Counts of one run, over all its communicators (docs/design/collective-drift.md).

    Attributes:
        calls: Watched calls, in windows that were complete.
        windows: On whose time the ranks agreed.
        drifts: Windows that were further from the expected time than allowed.
        probes: How often pairs of hosts were measured again.
        comparisons: Comparisons of a new schedule, or of the MPI's own calls, with the schedule in
            use.
        replacements: After which that was used.
        agreements_s: What agreements took together, with the wait for the last rank of each.
        longest_stop_s: Longest time for which a probe, or sharing a new schedule, held the program
            up.
        planning_s: Processor time for new schedules, while the program went on.
    """

    calls: _Count = 0
    windows: _Count = 0
    drifts: _Count = 0
    probes: _Count = 0
    comparisons: _Count = 0
    replacements: _Count = 0
    agreements_s: _Seconds = 0.0
    longest_stop_s: _Seconds = 0.0
    planning_s: _Seconds = 0.0


def drift_counts(folder: Path) -> DriftCounts | None:
    """The sum over all processes that left a file in this folder; None without one."""
    found = read_records(folder, "drift", DriftCounts)
    if not found:
        return None
    longest_s = max(one.longest_stop_s for one in found)
    sums = {
        name: sum(getattr(one, name) for one in found)
        for name in DriftCounts.model_fields
        if name != "longest_stop_s"
    }
    return DriftCounts(**sums, longest_stop_s=longest_s)
