# SPDX-License-Identifier: Apache-2.0
"""How well each predicted cost ranks placements, and which objective follows from that.

An objective is chosen on the series of one draw of each cloud and judged on those of the other, and
the other way round. Series whose runs hardly agree with one another are shown, but do not count: a
prediction cannot agree better with noise than the noise with itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from rich.table import Table
from series import Series

import fairlead as fl
from fairlead.flows.compare.statistics import (
    Interval,
    kendall_tau_interval,
    kendall_tau_of_repeats,
    mean_interval,
)

AGREEING_TAU = 0.7
"""Tau between one half of the runs and the other from which a series counts."""

COSTS: dict[str, Callable[[fl.Cost], float]] = {
    "sum, bytes": lambda cost: cost.weighted_sum["bytes"],
    "sum, messages": lambda cost: cost.weighted_sum["messages"],
    "comm_time_s": lambda cost: cost.comm_time_s,
    "serial_time_s": lambda cost: cost.serial_time_s,
    "bottleneck_s": lambda cost: cost.bottleneck_s,
    "bottleneck_and_mean_s": lambda cost: cost.bottleneck_and_mean_s,
}

COST_OF_OBJECTIVE = {
    "sum": "sum, bytes",
    "bottleneck": "bottleneck_s",
    "bottleneck-and-mean": "bottleneck_and_mean_s",
}
"""The cost that each objective minimises by default."""


class Row(NamedTuple):
    """One series as it was judged.

    Attributes:
        runs_with_runs: Tau between the halves of its runs.
        tau_of_cost: Tau of each cost with the measured times.
    """

    series: Series
    runs_with_runs: float
    tau_of_cost: dict[str, Interval]

    @property
    def counts(self) -> bool:
        """Whether its runs distinguish the placements."""
        return self.runs_with_runs >= AGREEING_TAU


def judge(series: Series, *, pairs_only: bool, seed: int) -> Row:
    """Kendall's tau of each cost; `pairs_only`: without measured bottlenecks."""
    network = series.network
    if pairs_only:
        network = dataclasses.replace(network, nic_out_Bps=None, nic_in_Bps=None, groups=[])
    costs = [fl.evaluate(placement, series.traffic, network) for placement in series.placements]
    taus = {
        name: kendall_tau_interval([cost(one) for one in costs], series.times_s, seed)
        for name, cost in COSTS.items()
    }
    return Row(series, kendall_tau_of_repeats(series.times_s), taus)


def table(rows: Iterable[Row], title: str) -> Table:
    """A row per series, then the means of those that count and of all."""
    rows = list(rows)
    result = Table(title=f"Kendall's tau with the measured time, {title}")
    for column in ("cloud", "program", "placements", "runs", "time, s", "runs with runs", *COSTS):
        result.add_column(column, no_wrap=True)
    for row in rows:
        means_s = row.series.times_s.mean(axis=1)
        result.add_row(
            row.series.cloud,
            row.series.program,
            str(len(means_s)),
            str(row.series.times_s.shape[1]),
            f"{means_s.min():.2f} to {means_s.max():.2f}",
            shown(row.runs_with_runs) + ("" if row.counts else " (too low)"),
            *(with_interval(row.tau_of_cost[name]) for name in COSTS),
        )
    result.add_section()
    for what, some in (("that count", [row for row in rows if row.counts]), ("in all", rows)):
        means = (shown(mean_tau(some, name)) for name in COSTS)
        result.add_row(f"{len(some)} {what}", "mean", "", "", "", "", *means)
    return result


def sentences(rows: Iterable[Row]) -> Iterator[str]:
    """The choice by each draw of the clouds, and the other draw's result for it."""
    rows = list(rows)
    halves = [[row for row in rows if row.series.draw % 2 == draw] for draw in (0, 1)]
    for name, half, other in (("first", *halves), ("second", *reversed(halves))):
        chosen_on = [row for row in half if row.counts]
        judged_on = [row for row in other if row.counts]
        if not chosen_on or not judged_on:
            yield (
                f"The {name} draw of the clouds chooses nothing: {len(chosen_on)} and "
                f"{len(judged_on)} series of the two have runs that agree to {AGREEING_TAU}."
            )
            continue
        chosen, best = best_objective(chosen_on), best_objective(judged_on)
        yield (
            f"Chosen on {len(chosen_on)} series of the {name} draw: {taus(chosen_on)}: {chosen}. "
            f"On {len(judged_on)} of the other: {taus(judged_on)}; {chosen} against {best}, the "
            f"best there: {difference(judged_on, chosen, best)}."
        )


def best_objective(rows: list[Row]) -> str:
    return max(COST_OF_OBJECTIVE, key=lambda name: mean_tau(rows, COST_OF_OBJECTIVE[name]))


def mean_tau(rows: list[Row], cost: str) -> float:
    values = [row.tau_of_cost[cost].value for row in rows]
    return float(np.nanmean(values)) if not np.all(np.isnan(values)) else math.nan


def taus(rows: list[Row]) -> str:
    return ", ".join(
        f"{name} {shown(mean_tau(rows, cost))}" for name, cost in COST_OF_OBJECTIVE.items()
    )


def difference(rows: list[Row], one: str, other: str) -> str:
    """Mean difference of their taus, series by series."""
    taus = [
        [row.tau_of_cost[COST_OF_OBJECTIVE[name]].value for row in rows] for name in (one, other)
    ]
    found = np.subtract(*taus)
    return with_interval(mean_interval(found[~np.isnan(found)].tolist()))


def with_interval(interval: Interval) -> str:
    if math.isnan(interval.low):
        return shown(interval.value)
    return f"{shown(interval.value)} [{interval.low:.2f}, {interval.high:.2f}]"


def shown(tau: float) -> str:
    return "-" if math.isnan(tau) else f"{tau:.2f}"
