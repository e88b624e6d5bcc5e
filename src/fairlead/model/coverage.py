# SPDX-License-Identifier: Apache-2.0
"""What a traffic covers of a traced run that did not come to its end."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from fairlead.units import format_duration

__all__ = ["Coverage"]

_MOST_NAMED = 4


@dataclasses.dataclass(frozen=True)
class Coverage:
    """Which part of a run the traffic of a partial trace is.

    Attributes:
        num_ranks: Ranks of the program.
        missing: Ranks that have left nothing.
        least_s: From the end of MPI_Init, the shortest time that a rank's share covers.
        most_s: The longest.
    """

    num_ranks: int
    missing: tuple[int, ...]
    least_s: float
    most_s: float

    def facts(self) -> dict[str, Any]:
        """What stands in the traffic's origin, under `partial`."""
        return {
            "missing_ranks": list(self.missing),
            "least_s": self.least_s,
            "most_s": self.most_s,
        }

    @classmethod
    def of_origin(cls, origin: Mapping[str, Any], num_ranks: int) -> Coverage | None:
        """The coverage that an origin names; None of a whole trace, and of what is none."""
        found = origin.get("partial")
        if not isinstance(found, Mapping):
            return None
        missing, least_s, most_s = (
            found.get(name) for name in ("missing_ranks", "least_s", "most_s")
        )
        are_seconds = all(
            isinstance(seconds, int | float) and math.isfinite(seconds)
            for seconds in (least_s, most_s)
        )
        if not are_seconds or not isinstance(missing, list):
            return None
        ranks = tuple(rank for rank in missing if isinstance(rank, int))
        return cls(num_ranks, ranks, float(least_s or 0), float(most_s or 0))

    def line(self) -> str:
        """What it covers, in words."""
        least, most = format_duration(self.least_s), format_duration(self.most_s)
        covered = most if least == most else f"{least} to {most}"
        line = f"partial: covers the first {covered} of the run"
        if not self.missing:
            return f"{line}, of all {self.num_ranks} ranks"
        named = ", ".join(map(str, self.missing[:_MOST_NAMED]))
        more = ", ..." if len(self.missing) > _MOST_NAMED else ""
        word = "rank" if len(self.missing) == 1 else "ranks"
        return (
            f"{line}; {len(self.missing)} of {self.num_ranks} ranks left nothing: "
            f"{word} {named}{more}"
        )
