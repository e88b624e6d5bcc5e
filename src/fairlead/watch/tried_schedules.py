# SPDX-License-Identifier: Apache-2.0
"""Which schedules a running program has compared with the MPI's own calls, by files it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pydantic

from fairlead.watch.run_records import read_records

__all__ = ["TriedSchedule", "load_tried"]

_Seconds = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


class TriedSchedule(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A schedule of the calls of one communicator (docs/design/collective-drift.md).

    Attributes:
        operation: One of `fairlead.collectives.OPERATIONS`.
        message_bytes: Size of the calls, as rules have it.
        method: By which it was planned.
        end: "unpromising": not compared, as it was predicted to save too little of the time that
            calls took; "slower": not faster in turns with the MPI's own calls; "used": faster, and
            followed from then on; "left": it was followed, and proved slower.
        predicted_s: Its predicted time of a call.
        native_s: What a call took by the MPI.
        schedule_s: What a call took by the schedule; 0 where none followed it.
    """

    operation: str
    message_bytes: Annotated[int, pydantic.Field(ge=0)]
    method: str
    end: Literal["unpromising", "slower", "used", "left"]
    predicted_s: _Seconds
    native_s: _Seconds
    schedule_s: _Seconds

    @property
    def is_used(self) -> bool:
        """Whether it was faster, and followed, perhaps not to the end of the run."""
        return self.end == "used"

    @property
    def saved_ratio(self) -> float:
        """Part of a call's time that the schedule saves; predicted where no call followed it."""
        seconds = self.schedule_s or self.predicted_s
        return 1 - seconds / self.native_s if self.native_s > 0 else 0.0


class _Record(pydantic.BaseModel, extra="forbid"):
    tried: list[TriedSchedule]


def load_tried(folder: Path) -> list[TriedSchedule]:
    """All that the processes of a run have tried, by operation and size."""
    found = [one for record in read_records(folder, "schedules", _Record) for one in record.tried]
    return sorted(found, key=lambda one: (one.operation, one.message_bytes))
