# SPDX-License-Identifier: Apache-2.0
"""Repeated runs of one program on several placements: predicted costs and measured times."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from fairlead.errors import TopologyError
from fairlead.files.archive import write_text
from fairlead.files.json_files import read_json
from fairlead.files.system_text import SystemText
from fairlead.flows.compare import statistics
from fairlead.flows.compare.statistics import Agreement, Interval
from fairlead.model.cost_names import COST_NAMES, SELDOM_KNOWN
from fairlead.model.placement import Placement

__all__ = ["Comparison", "MethodRuns", "PredictedCost"]

MAX_TIES = 3
"""Ties that a sentence names; of more ties only the number matters."""


def _nan_to_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


_Count = Annotated[int, pydantic.Field(ge=1)]
_Duration = Annotated[float, pydantic.Field(ge=1e-12, le=1e12)]
"""Wide enough for any run, and computed values do not overflow."""
_Amount = Annotated[
    Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)] | None,
    pydantic.BeforeValidator(_nan_to_none),
]


class _Record(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)


class PredictedCost(_Record):
    """Result of `fairlead.evaluate` for a placement; None where the network is not measured."""

    inter_bytes: _Amount
    intra_bytes: _Amount
    comm_time_s: _Amount
    serial_time_s: _Amount
    bottleneck_s: _Amount
    bottleneck_and_mean_s: _Amount
    slowest_rank_s: _Amount = None


class MethodRuns(_Record):
    """The runs of one method.

    Attributes:
        hosts: Host names of the placement.
        host_of_rank: Index into `hosts` for each rank.
        times_s: Measured times in order of repeat.
        predicted: Predicted costs of the placement.
        mapping_s: Time to compute the placement.
    """

    hosts: tuple[str, ...]
    host_of_rank: tuple[int, ...]
    times_s: Annotated[tuple[_Duration, ...], pydantic.Field(min_length=1)]
    predicted: PredictedCost
    mapping_s: _Amount = None

    @pydantic.model_validator(mode="after")
    def _check_placement(self) -> MethodRuns:
        try:
            self.placement("given")
        except TopologyError as error:
            raise ValueError(str(error)) from error
        return self

    def placement(self, method: str) -> Placement:
        """The placement of these runs under the name `method`."""
        return Placement(self.hosts, self.host_of_rank, method)  # type: ignore[arg-type]


class Comparison(_Record):
    """All methods against a baseline; `methods` keeps the order in which they were asked for.

    Attributes:
        baseline: The method that times are normalised to.
        methods: Runs of each method by its name.
        program: Program and arguments.
        num_ranks: Ranks of each run.
        repeats: Requested runs per method; an interrupted comparison has fewer.
        hosts: All hosts of the cluster, in the user's order.
        mpi: The MPI that ran the program, for example "Open MPI 4.1.4".
        when: Start of the first run, with its time zone.
        time_pattern: Regular expression that found the seconds in the program's output; None where
            the time is that of the whole launcher command.
        probe_s, trace_s: Time spent on measuring the network and on the traced run.
    """

    kind: Literal["comparison"] = "comparison"
    version: Literal[2] = 2
    baseline: str = "launcher"
    methods: Mapping[str, MethodRuns]
    program: Annotated[tuple[SystemText, ...], pydantic.Field(min_length=1)]
    num_ranks: _Count
    repeats: _Count
    hosts: Annotated[tuple[str, ...], pydantic.Field(min_length=1)]
    mpi: str
    when: pydantic.AwareDatetime
    time_pattern: str | None = None
    probe_s: _Amount = None
    trace_s: _Amount = None

    @pydantic.model_validator(mode="after")
    def _check_methods(self) -> Comparison:
        if self.baseline not in self.methods:
            raise ValueError(f"the baseline {self.baseline!r} is not among {list(self.methods)}")
        for name, runs in self.methods.items():
            if len(runs.host_of_rank) != self.num_ranks:
                raise ValueError(
                    f"{name}: {len(runs.host_of_rank)} ranks are placed, not {self.num_ranks}"
                )
            unknown = sorted(set(runs.hosts) - set(self.hosts))
            if unknown:
                raise ValueError(f"{name}: host {unknown[0]!r} is not in the cluster")
        return self

    def knows(self, prediction: str) -> bool:
        """Whether this cost is shown: one that is seldom known only where a method has it."""
        predicted = [runs.predicted for runs in self.methods.values()]
        return prediction not in SELDOM_KNOWN or any(getattr(one, prediction) for one in predicted)

    def save(self, path: Path | str) -> None:
        """Write the comparison as a JSON file; a reader never sees part of it."""
        write_text(path, self.model_dump_json(indent=2) + "\n")

    @classmethod
    def load(cls, path: Path | str) -> Comparison:
        """Read a comparison from a JSON file.

        Raises:
            InputError: The file is missing, damaged, of another kind or version, or holds an
                impossible value; the message names file and field.
        """
        return read_json(path, cls, is_strict=True)

    def placement(self, method: str) -> Placement:
        """The placement that `method` ran with."""
        return self.methods[method].placement(method)

    def time_s(self, method: str) -> Interval:
        """Geometric mean of the measured times with its confidence interval, seconds.

        `time_ratio` is the ratio of two of these, so the times and their ratio agree.
        """
        return statistics.geometric_mean_interval(self.methods[method].times_s)

    def standard_deviation_s(self, method: str) -> float:
        """Sample standard deviation of the measured times; `nan` for one run."""
        return statistics.standard_deviation(self.methods[method].times_s)

    def time_ratio(self, method: str, other: str | None = None) -> Interval:
        """Time of `method` over the time of `other` (the baseline by default), with interval."""
        return statistics.ratio_to_baseline(
            self.methods[method].times_s, self.methods[other or self.baseline].times_s
        )

    def time_source(self) -> str:
        """Which time was measured, in words."""
        if self.time_pattern is None:
            return "time of the launcher command, start and end included"
        return f"time that the program prints ({self.time_pattern})"

    def distinct(self) -> dict[str, tuple[str, ...]]:
        """Methods whose placements differ, each with the others that place alike.

        The baseline stands for those that place as it does, else the first of them.
        """
        names_of: dict[tuple[str, ...], list[str]] = {}
        for method in sorted(self.methods, key=lambda name: name != self.baseline):
            names_of.setdefault(tuple(self.placement(method).host_names()), []).append(method)
        alike_of = {first: tuple(others) for first, *others in names_of.values()}
        return {method: alike_of[method] for method in self.methods if method in alike_of}

    def fastest(self) -> str:
        """The method with the smallest mean time, of those that place differently."""
        return min(self.distinct(), key=lambda method: self.time_s(method).value)

    def is_tie(self, left: str, right: str) -> bool:
        """Whether the times of two methods differ by no more than the noise."""
        return self.time_ratio(left, right).contains(1)

    def agreement(self, prediction: str) -> RankAgreement:
        """Whether a predicted cost ranks the methods as the measured mean times do.

        Args:
            prediction: A field of `PredictedCost`, for example "comm_time_s".
        """
        return RankAgreement.of(self, prediction)


class RankAgreement(_Record):
    """How a prediction ranks the methods against the measurement.

    Attributes:
        prediction: Name of the predicted cost.
        methods: Methods that have this prediction.
        kendall: Kendall's tau-b of prediction and mean time.
        ties: Pairs whose measured times differ by no more than the noise.
        inversions: Pairs that differ in measurement and are predicted the other way round
            or alike, the one measured faster first.
    """

    prediction: str
    methods: tuple[str, ...]
    kendall: Agreement
    ties: tuple[tuple[str, str], ...]
    inversions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, comparison: Comparison, prediction: str) -> RankAgreement:
        """Compare each pair of methods; see `Comparison.agreement`."""
        cost = {
            name: value
            for name in comparison.distinct()
            if (value := getattr(comparison.methods[name].predicted, prediction)) is not None
        }
        time = {name: comparison.time_s(name).value for name in cost}
        pairs = list(itertools.combinations(sorted(cost, key=lambda name: time[name]), 2))
        ties = tuple(pair for pair in pairs if comparison.is_tie(*pair))
        return cls(
            prediction=prediction,
            methods=tuple(cost),
            kendall=statistics.kendall_tau(list(cost.values()), list(time.values())),
            ties=ties,
            inversions=tuple(
                (fast, slow)
                for fast, slow in pairs
                if (fast, slow) not in ties and not cost[fast] < cost[slow]
            ),
        )

    def sentence(self) -> str:
        """The result as a sentence."""
        name = COST_NAMES[self.prediction]
        if len(self.methods) < 2:
            return f"{name}: fewer than two methods have it, so there is no ranking."
        number = (
            ""
            if math.isnan(self.kendall.tau)
            else f" (Kendall's tau {self.kendall.tau:.2f}, p = {self.kendall.p_value:.2g})"
        )
        if len(self.ties) == math.comb(len(self.methods), 2):
            return f"{name}: all methods tie within the noise, so none can be ranked."
        if self.inversions:
            listed = "; ".join(f"{fast} is faster than {slow}" for fast, slow in self.inversions)
            finding = f"does not rank the methods as measured{number}: {listed}."
        elif self.ties:
            finding = f"agrees with every measured difference beyond the noise{number}."
        else:
            finding = f"ranks the methods as measured{number}."
        if self.ties:
            pairs = [f"{left} and {right}" for left, right in self.ties]
            more = f" and {len(pairs) - MAX_TIES} more" if len(pairs) > MAX_TIES else ""
            finding += f" Ties within the noise: {', '.join(pairs[:MAX_TIES])}{more}."
        return f"{name}: {finding}"
