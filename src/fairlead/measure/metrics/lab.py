# SPDX-License-Identifier: Apache-2.0
"""The links of an emulated torus, as its routers count them."""

from __future__ import annotations

import numpy as np

from fairlead.errors import InputError, LabError
from fairlead.measure.metrics.series import MetricError, MetricSource, Quantity, Series

__all__ = ["LabSource"]


class LabSource(MetricSource):
    """A lab that is up."""

    def __init__(self, name: str):
        """A lab by its name."""
        self._lab = name
        self.name = f"lab:{name}"

    def read(self, now_s: float, window_s: float) -> list[Series]:
        """The counters now."""
        from fairlead.lab import Lab  # noqa: PLC0415  A quarter of a second, for this alone.

        try:
            counters = Lab.attach(self._lab).link_counters()
        except (LabError, InputError) as error:
            raise MetricError(f"{self.name}: {error}") from error
        at_s = np.array([counters["at_s"]])
        return [
            Series(port, True, quantity, at_s, np.array([value]))
            for quantity, name in (
                (Quantity.carried_bytes, "bytes"),
                (Quantity.stalled_s, "stalled_s"),
            )
            for port, value in zip(counters["ports"], counters[name], strict=True)
        ]
