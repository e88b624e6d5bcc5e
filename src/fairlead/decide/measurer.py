# SPDX-License-Identifier: Apache-2.0
"""Measurements for a decision on the hosts of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fairlead.errors import ProbeError
from fairlead.measure import rehearsal
from fairlead.measure.interfaces import Interfaces, measure_interfaces
from fairlead.measure.long_trains import measure_with_long_trains
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.rehearsal import Rehearsal
from fairlead.model.cluster import Cluster
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic
from fairlead.narrator import Narrator

__all__ = ["HostsMeasurer", "Measurer"]

Mask = npt.NDArray[np.bool_]
Found = TypeVar("Found")

TYPICAL_LAUNCH_S = 1.0
"""Assumed time for starting the measuring program before the first start."""


class Measurer(Protocol):
    """Makes further measurements for a search."""

    @property
    def launch_s(self) -> float:
        """Time for starting the measuring program, in seconds."""

    def measure(self, pairs: Mask, pairs_s: float) -> Network | None:
        """As `measure_with_long_trains`; None where it cannot be done."""

    def interfaces(self, network: Network, interfaces_s: float) -> Interfaces | None:
        """As `measure_interfaces`; None where it cannot be done."""

    def rehearse(
        self, placements: Sequence[Placement], network: Network, rehearsal_s: float
    ) -> Rehearsal | None:
        """As `fairlead.measure.rehearsal.rehearse`; None where it cannot be done."""


@dataclasses.dataclass(frozen=True)
class HostsMeasurer:
    """Measures by the measuring program.

    Attributes:
        program: The measuring program.
        cluster: The hosts.
        traffic: The traffic to rehearse; None where it is not known, and nothing is rehearsed.
        first_launch_s: Time of the first start of the program; None if unknown.
        narrator: Reports it to the user.
    """

    program: ProbeProgram
    cluster: Cluster
    traffic: Traffic | None
    first_launch_s: float | None
    narrator: Narrator

    @property
    def launch_s(self) -> float:
        """0 while the program runs on these hosts."""
        if self.program.is_running_on(self.cluster):
            return 0.0
        return TYPICAL_LAUNCH_S if self.first_launch_s is None else self.first_launch_s

    def measure(self, pairs: Mask, pairs_s: float) -> Network | None:
        """Measure pairs by trains of 64 KiB; None, and one line of output, if that fails."""
        return self._or_none(
            "by the first measurement",
            lambda: measure_with_long_trains(self.program, self.cluster, pairs, pairs_s),
        )

    def interfaces(self, network: Network, interfaces_s: float) -> Interfaces | None:
        """Run flows of all hosts at once; None, and one line of output, if that fails."""
        return self._or_none(
            "by pairs alone, not by interfaces",
            lambda: measure_interfaces(self.program, self.cluster, network, interfaces_s),
        )

    def rehearse(
        self, placements: Sequence[Placement], network: Network, rehearsal_s: float
    ) -> Rehearsal | None:
        """Run the traffic of the placements; None, and one line of output, if that fails."""
        traffic = self.traffic
        if traffic is None:
            return None
        self.narrator.report("decision: rehearsing the traffic of each placement on the network")
        return self._or_none(
            "by the measured rates",
            lambda: rehearsal.rehearse(
                placements,
                traffic,
                network,
                self.program,
                self.cluster,
                rehearsal_s=rehearsal_s,
            ),
        )

    def _or_none(self, decided: str, measure: Callable[[], Found | None]) -> Found | None:
        try:
            return measure()
        except ProbeError as error:
            self.narrator.report(f"decision: {decided}: {error}")
            return None
