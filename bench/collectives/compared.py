#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fairlead's collectives compared with the paper's and those of others in SimGrid.

The network is one of `clouds.py` as a perfect probe finds it. Each method of the planner plans each
call, and the executors of `mpi/collectives` follow the plans in SMPI. Ours is first the one that is
predicted fastest, then the one that is fastest in the simulation. Where the model has factors by
which messages of some sizes take longer, each method also plans for the network as a probe by such
messages finds it, and the plan that is fastest in the simulation counts, as `fairlead tune` chooses
by measuring. Others are what `peers.py` has recorded. The paper's probe sees pairs only, so that is
what its schedules are planned by.

Planning runs each time; a plan that was simulated before is not simulated again (`--again` does).

python bench/collectives/compared.py      64 hosts, some minutes; --short for 8 hosts in racks
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import itertools
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from clouds import CLOUDS, pairs_only, platform_of, seen_by_messages
from peers import ALGORITHMS, LIBRARIES, SELECTORS, cell, time_peers
from peers import HOW as HOW_PEERS
from peers import PATH as PEERS
from recording import FOLDER, Recording
from rich.console import Console
from rich.table import Table
from simulating import FACTORS, MODELS, SIZES_BYTES, Call, Simulation, built, calls_of
from targets import MAX_SLOWER_RATIO, SAME_RATIO, bound_ratio, faster_ratio

import fairlead as fl
from fairlead.units import format_size, parse_size

PAPER = "cmpi"

OURS = FOLDER / "ours.json"
HOW = "bench/collectives/compared.py, SimGrid 3.32; seconds by method and plan"

Times = Mapping[str, float | None]
"""Seconds by name; None where it failed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="2 operations, 8 hosts in racks")
    parser.add_argument("--cloud", action="append", choices=CLOUDS, help="repeatable")
    parser.add_argument("--hosts", action="append", type=int, help="default: 64; repeatable")
    parser.add_argument("--model", action="append", choices=MODELS, help="default: plain")
    parser.add_argument("--operation", action="append", choices=ALGORITHMS, help="repeatable")
    parser.add_argument("--size", action="append", type=parse_size, help="repeatable")
    parser.add_argument("--method", action="append", choices=fl.collectives.METHODS)
    parser.add_argument("--again", action="store_true", help="also what was simulated before")
    options = parser.parse_args()
    if options.short:
        options.cloud, options.hosts, options.operation = ["racks"], [8], ["bcast", "allgather"]
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = built("timed")
        others = Recording(folder / PEERS.name if options.short else PEERS, HOW_PEERS)
        ours = Recording(folder / OURS.name if options.short else OURS, HOW, options.again)
        for cloud, num_hosts, model in itertools.product(
            options.cloud or CLOUDS, options.hosts or [64], options.model or ["plain"]
        ):
            network = CLOUDS[cloud](num_hosts, 0)
            simulation = Simulation(program, platform_of(network, folder), model)
            methods = options.method or fl.collectives.METHODS
            sizes = options.size or SIZES_BYTES
            comparison = Comparison(simulation, cloud, network, others, ours, methods, sizes)
            rows: list[Row] = []
            for operation in options.operation or ALGORITHMS:
                if options.short:
                    calls = calls_of(operation)
                    time_peers(others, simulation, comparison.where, calls, LIBRARIES)
                rows += comparison.rows(operation)
            Console(width=170).print(table(comparison.where, rows))
            print(summary(rows))
            failed += failures(rows)
    if failed:
        sys.exit("\n".join(failed))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One cloud under one model, and what is recorded."""

    simulation: Simulation
    cloud: str
    network: fl.Network
    others: Recording
    ours: Recording
    methods: Collection[str]
    sizes_bytes: Sequence[int] = SIZES_BYTES

    @property
    def where(self) -> str:
        return f"{self.cloud}/{self.network.num_hosts}/{self.simulation.model}"

    def rows(self, operation: str) -> Iterator[Row]:
        """A row for each size, if any of the methods is for the operation."""
        calls = calls_of(operation, self.sizes_bytes)
        plans = [
            self.simulated(plans_of(method, calls, network))
            for method in fl.collectives.methods_for(operation)
            if method in self.methods
            for network in (self.network, *(self.seen if method != PAPER else ()))
        ]
        for call in calls if plans else ():
            kept = self.ours.row(cell(self.where, call))
            all_of_call = [plan[call] for plan in plans]
            of_call = {plan.method: plan for plan in reversed(all_of_call)}
            yield Row(
                call=call,
                cloud=self.cloud,
                num_hosts=self.network.num_hosts,
                others_s=self.others.row(cell(self.where, call)),
                plans=of_call,
                plans_s={method: kept[kept_as(plan)] for method, plan in of_call.items()},
                ours_s=fastest_of_methods(all_of_call, kept),
                bound_s=bound_s(call, self.network),
            )

    @property
    def seen(self) -> list[fl.Network]:
        """The network as messages of each size find it for which the model has factors."""
        factors = FACTORS[self.simulation.model]
        return [seen_by_messages(self.network, *ratios) for ratios in factors]

    def simulated(self, plans: Mapping[Call, fl.Schedule]) -> Mapping[Call, fl.Schedule]:
        """The same plans, after simulating those that were not yet."""
        new = {
            call: plan
            for call, plan in plans.items()
            if kept_as(plan) not in self.ours.row(cell(self.where, call))
        }
        for call, time_s in (self.simulation.planned_s(new) if new else {}).items():
            self.ours.add(cell(self.where, call), kept_as(new[call]), time_s)
        return plans


def bound_s(call: Call, network: fl.Network) -> float:
    """The lower bound on the network as it is; that of the paper's plan is for another one."""
    return fl.collectives.lower_bound_s(
        call.operation, network, call.message_bytes(network.num_hosts)
    )


def plans_of(method: str, calls: Sequence[Call], network: fl.Network) -> dict[Call, fl.Schedule]:
    """A method's plan for each call."""
    seen = pairs_only(network) if method == PAPER else network
    return {
        call: fl.collectives.plan(
            call.operation, seen, call.message_bytes(network.num_hosts), method=method
        )
        for call in calls
    }


def fastest_of_methods(plans: Sequence[fl.Schedule], times_s: Times) -> dict[str, float | None]:
    """Time of each method's plan that is simulated fastest; None where one failed."""
    found: dict[str, list[float | None]] = {}
    for plan in plans:
        found.setdefault(plan.method, []).append(times_s[kept_as(plan)])
    return {
        method: None if None in times else min(time_s for time_s in times if time_s is not None)
        for method, times in found.items()
    }


def kept_as(plan: fl.Schedule) -> str:
    """Name of a time in the record: the method, and a digest of what is done."""
    done = dataclasses.replace(plan, predicted_s=0.0, lower_bound_s=0.0)
    digest = int(hashlib.sha256(done.to_json().encode()).hexdigest()[:12], base=16)
    return f"{plan.method} {digest}"


class Verdict(NamedTuple):
    """What a ratio should be, and whether it is."""

    target: str
    wanted: float
    is_met: bool


@dataclasses.dataclass(frozen=True)
class Row:
    """A cell of the comparison.

    Attributes:
        others_s: Simulated times of others.
        plans: Ours by method for the network as it is, the paper's among them.
        plans_s: Simulated times of these.
        ours_s: Those of each method's fastest plan, also for the network as messages find it.
        bound_s: The lower bound on the network.
    """

    call: Call
    cloud: str
    num_hosts: int
    others_s: Times
    plans: Mapping[str, fl.Schedule]
    plans_s: Times
    ours_s: Times
    bound_s: float

    def selectors_s(self) -> dict[str, float | None]:
        return {name: self.others_s.get(name) for name in SELECTORS}

    def predicted(self) -> str:
        """The method that is fastest by prediction; the paper's sees another network."""
        ours = {name: plan for name, plan in self.plans.items() if name != PAPER}
        return min(ours, key=lambda name: ours[name].predicted_s)

    def verdicts(self) -> Iterator[Verdict]:
        """What is reached of the targets."""
        _, time_s = fastest(self.ours_without_paper_s())
        _, selector_s = fastest(self.selectors_s())
        _, other_s = fastest(self.others_s)
        if time_s is None:
            return
        least = faster_ratio(self.call, self.cloud, self.num_hosts)
        if least is not None and other_s is not None:
            is_met = other_s >= (1 - SAME_RATIO) * least * time_s
            yield Verdict("other/ours", least, is_met)
        if selector_s is not None:
            least = 1.0 / MAX_SLOWER_RATIO
            yield Verdict("selector/ours", least, selector_s >= least * time_s)
        most = bound_ratio(self.call, self.cloud, self.num_hosts)
        if most is not None:
            yield Verdict("ours/bound", most, time_s <= most * self.bound_s)

    def ours_without_paper_s(self) -> dict[str, float | None]:
        return {name: time_s for name, time_s in self.ours_s.items() if name != PAPER}


def table(where: str, rows: Sequence[Row]) -> Table:
    """Times in milliseconds, what they are to each other, and which targets are missed."""
    result = Table(title=f"{where}: simulated times, ms")
    for column in ("operation", "size", "best selector", "best other", "cmpi"):
        result.add_column(column, justify="right")
    for column in ("ours, predicted best", "ours, measured best", "other/ours", "selector/ours"):
        result.add_column(column, justify="right")
    for column in ("ours/predicted", "ours/bound", "missed"):
        result.add_column(column, justify="left" if column == "missed" else "right")
    for row in rows:
        predicted = row.predicted()
        method, time_s = fastest(row.ours_without_paper_s())
        selector_s = fastest(row.selectors_s())[1]
        result.add_row(
            row.call.operation,
            format_size(row.call.size_bytes),
            named(*fastest(row.selectors_s())),
            named(*fastest(row.others_s)),
            named("", row.ours_s.get(PAPER)),
            named(predicted, row.plans_s[predicted]),
            named(method, time_s),
            ratio(fastest(row.others_s)[1], time_s),
            ratio(selector_s, time_s),
            ratio(row.plans_s.get(method), row.plans[method].predicted_s if method else None),
            ratio(time_s, row.bound_s),
            ", ".join(
                f"{verdict.target} {verdict.wanted:.3g}"
                for verdict in row.verdicts()
                if not verdict.is_met
            ),
        )
    return result


def summary(rows: Sequence[Row]) -> str:
    """How many targets are met, of each kind."""
    verdicts = [verdict for row in rows for verdict in row.verdicts()]
    counts = []
    for target in ("other/ours", "selector/ours", "ours/bound"):
        is_met = [verdict.is_met for verdict in verdicts if verdict.target == target]
        counts.append(f"{target} {sum(is_met)} of {len(is_met)}")
    return f"Targets met: {', '.join(counts)}"


def failures(rows: Sequence[Row]) -> list[str]:
    """Plans of ours that did not deliver the right result."""
    return [
        f"FAILED: {row.call} by {method}"
        for row in rows
        for method, time_s in row.ours_s.items()
        if time_s is None
    ]


def fastest(times_s: Times) -> tuple[str, float | None]:
    """Name and time of the fastest that works."""
    working = {name: time_s for name, time_s in times_s.items() if time_s is not None}
    if not working:
        return "", None
    name = min(working, key=lambda other: working[other])
    return name, working[name]


def named(name: str, time_s: float | None) -> str:
    return "-" if time_s is None else f"{1e3 * time_s:.4g} {name.removeprefix('smpi ')}".strip()


def ratio(above: float | None, below: float | None) -> str:
    return "-" if not above or not below else f"{above / below:.2f}"


if __name__ == "__main__":
    main()
