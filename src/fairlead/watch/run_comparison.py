# SPDX-License-Identifier: Apache-2.0
"""Runs of a combination of placement and levers against those that it is compared with."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

from fairlead.decide.rank_sum import rank_sum_risk

__all__ = ["MOST_COMPARED", "RISK", "RunComparison"]

MOST_COMPARED = 12
"""Latest runs of a combination that are compared, so that old load is forgotten."""

RISK = 0.05
"""Most probability, at each look, that a combination is dropped which is not slower. With three
runs of each the test can just reach it: one run out of 20 orders."""

SLOWER_RATIO = 0.03
"""What is slower by less than this is no loss: it is not dropped, whatever the runs say."""


class RunComparison(NamedTuple):
    """Runs of a combination, and those that they are compared with.

    Attributes:
        own, others: Positions in the history.
        own_s, others_s: Their times.
        has_had_turn: Whether the others have run since, but with another lever in another state.
    """

    own: tuple[int, ...]
    others: tuple[int, ...]
    own_s: tuple[float, ...]
    others_s: tuple[float, ...]
    has_had_turn: bool = False

    @property
    def is_slower(self) -> bool:
        """Whether the runs show it, at the stated risk, by more than what is no loss."""
        return self.risk <= RISK

    @property
    def risk(self) -> float:
        """Probability of such times although it is slower by no more than what is no loss."""
        allowed_s = [seconds * (1 + SLOWER_RATIO) for seconds in self.others_s]
        return rank_sum_risk(self.own_s, allowed_s)

    @property
    def is_suspect(self) -> bool:
        """Whether it looks slower, and more runs may show whether it is."""
        if not self.own_s or not self.others_s or self.is_slower:
            return False
        usual_s = statistics.median(self.others_s)
        is_open = min(len(self.own_s), len(self.others_s)) < MOST_COMPARED
        return is_open and statistics.median(self.own_s) > usual_s * (1 + SLOWER_RATIO)

    @property
    def is_reference_next(self) -> bool:
        """Whether the next run should be one of the others: of a suspect both run in turns."""
        is_short = len(self.others_s) <= len(self.own_s) and not self.has_had_turn
        return self.is_suspect and is_short

    def line(self) -> str:
        """The runs on which a result rests, for a user."""
        return f"{_runs_of(self.own_s)} against {_runs_of(self.others_s)} without"


def _runs_of(times_s: Sequence[float]) -> str:
    if len(times_s) == 1:
        return f"1 run of {times_s[0]:.3g} s"
    return f"{len(times_s)} runs of {min(times_s):.3g} to {max(times_s):.3g} s"
