# SPDX-License-Identifier: Apache-2.0
"""What SPREAD's text can mean, and the results of its methods by each reading."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from gains import BASELINES

from fairlead.decide.jobs import place_jobs
from fairlead.simulation import SimulationOptions, SimulationResult, Workload, simulate_each

METHODS = (*BASELINES, "spread", "spread-group")
"""B, C, D and N of the paper's figures, and our variant."""

SYNTHETIC = tuple(f"Synt_workload_{number}" for number in range(1, 5))
REAL = tuple(f"Real_workload_{number}" for number in range(1, 5))


@dataclasses.dataclass(frozen=True)
class Reading:
    """One way to read the text.

    Attributes:
        rate_per: Whether rate and count of a pattern are per process or per pair; None for
            recordings, where each pair has its own.
        nic: Which server receives at an interface.
    """

    rate_per: str | None
    nic: str

    def __str__(self) -> str:
        rate = "" if self.rate_per is None else f"per {self.rate_per}, "
        interface = "one request at a time" if self.nic == "shared" else "both directions at once"
        return rate + interface


SYNTHETIC_READINGS = tuple(
    Reading(rate_per, nic) for rate_per in ("process", "pair") for nic in ("shared", "separate")
)
"""The first is what the text says: the note below table 2, and section 1."""

REAL_READINGS = (Reading(None, "shared"), Reading(None, "separate"))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The results of all methods on one workload, by one reading."""

    workload: str
    reading: Reading
    results: dict[str, SimulationResult]

    def __str__(self) -> str:
        return f"{self.workload.replace('_workload_', ' ')}, {self.reading}"

    def values(self, metric: str) -> dict[str, float]:
        """The metric by method."""
        return {name: getattr(result, metric) for name, result in self.results.items()}

    def interface_loads(self) -> dict[str, float]:
        """Offered load over capacity of the busiest interface, by method."""
        return {
            name: max(server.offered_ratio for server in result.servers if ".nic." in server.name)
            for name, result in self.results.items()
        }


def outcomes(
    workloads: tuple[str, ...], readings: tuple[Reading, ...], scale: float
) -> Iterator[Outcome]:
    """Every workload by every reading."""
    for name in workloads:
        for reading in readings:
            yield outcome_of(name, reading, scale)


@functools.cache
def outcome_of(name: str, reading: Reading, scale: float) -> Outcome:
    """Results on a workload that comes with Fairlead, which several figures show."""
    return outcome(Workload.load(name, rate_per=reading.rate_per), reading, scale)


def outcome(workload: Workload, reading: Reading, scale: float) -> Outcome:
    """All methods, each simulated with this part of the messages."""
    placements = [place_jobs(workload, method) for method in METHODS]
    results = simulate_each(workload, placements, SimulationOptions(nic=reading.nic), scale=scale)
    return Outcome(workload.name, reading, {result.method: result for result in results})
