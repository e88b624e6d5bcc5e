# SPDX-License-Identifier: Apache-2.0
"""The axis of measured values: logarithmic where they differ widely, cut where intervals do."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairlead.report.scales import Scale

Vector = npt.NDArray[np.float64]

LOG_FROM_RATIO = 10.0
"""Ratio of largest to smallest value from which an axis is logarithmic: on a linear one, the
smaller values would lie on the axis."""
MOST_ABOVE = 3.0
"""How many times the largest value the axis may reach for the sake of intervals."""
MOST_DECADES_DIVIDED = 3.0
ROOM = 1.08
"""What is left above the largest value."""


class ValueAxis(NamedTuple):
    """Which part of the values is drawn, and how.

    Attributes:
        low, high: Ends, in the unit of `scale`; `low` is 0 on a linear axis.
        is_log: Whether it is logarithmic.
        scale: The unit.
    """

    low: float
    high: float
    is_log: bool
    scale: Scale

    @classmethod
    def of(cls, values: Vector, tops: Vector, scale: Scale) -> ValueAxis:
        """The axis for these values, so that intervals do not flatten them.

        Args:
            values: In the unit of `scale`; `nan` is left out.
            tops: Upper ends of their intervals; those beyond the axis are cut.
            scale: The unit.
        """
        known = values[np.isfinite(values) & (values > 0)]
        if known.size == 0:
            return cls(0.0, 1.0, False, scale)
        least, most = float(known.min()), float(known.max())
        ends = tops[np.isfinite(tops)]
        highest = float(ends.max()) if ends.size else most
        # Cutting little off is worse than a slightly flatter chart.
        wanted = min(max(most, highest), MOST_ABOVE * most)
        if ends.size and highest > MOST_ABOVE * most:
            wanted = max(most, min(wanted, float(np.quantile(ends, 0.9))))
        is_log = most / least >= LOG_FROM_RATIO
        return cls(least / ROOM**2 if is_log else 0.0, wanted * ROOM, is_log, scale)

    def layout(self, name: str) -> dict[str, Any]:
        """For Plotly."""
        common = {
            "title": {"text": f"{name} ({self.scale.unit}{', log' if self.is_log else ''})"},
            "automargin": True,
        }
        if not self.is_log:
            return {**common, "range": [0, self.high], "nticks": 7}
        ends = [math.log10(self.low), math.log10(self.high)]
        decades = range(math.floor(ends[0]), math.ceil(ends[1]) + 1)
        steps = (1,) if ends[1] - ends[0] > MOST_DECADES_DIVIDED else (1, 2, 5)
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if self.low <= tick <= self.high]
        texts = [f"{tick:,.10g}" for tick in ticks]
        return {**common, "type": "log", "range": ends, "tickvals": ticks, "ticktext": texts}

    def cut(self, values: Vector) -> Vector:
        """The values, moved to the nearer end where they lie outside."""
        return np.asarray(np.clip(values, self.low, self.high))
