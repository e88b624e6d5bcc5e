#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the paper CMPI again, on virtual clusters, by predicted times.

Gong, He, Zhong: "Network performance aware MPI collective communication operations in the cloud",
TPDS 2015. A cluster is a full mesh of uneven directed pairs (`mesh` in `clouds.py`), another for
each seed. MPICH is its textbook algorithm on the hosts in the given order; an improvement is how
much less time than that is needed.

python bench/collectives/paper.py          an hour; --short for 8 hosts; --table sizes for one
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence

import numpy as np
from clouds import DRIFT_H, drifting_mesh, mesh, pairs_only
from random_trees import against_trees
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.units import format_size

OPERATIONS = {"bcast": 0.382, "reduce": 0.135, "scatter": 0.227, "gather": 0.273}
"""With the paper's mean improvement over MPICH."""

SIZES_BYTES = (2**10, 64 * 2**10, 2**20, 8 * 2**20)

CONDITIONS = "Here: predicted, pairs drawn independently. The paper: measured, on rented hosts."

Plan = Callable[[str, fl.Network, int], fl.Schedule]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 hosts, one cluster, few trees")
    parser.add_argument("--table", action="append", choices=TABLES, help="default: all; repeatable")
    parser.add_argument("--hosts", type=int, default=32, help="of a cluster")
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--trees", type=int, default=10_000_000, help="random ones, each operation")
    parser.add_argument("--largest", type=int, default=2048, help="hosts of the largest cluster")
    parser.add_argument("--hours", type=float, default=48, help="of drift")
    options = parser.parse_args()
    if options.short:
        options.hosts, options.clusters, options.trees, options.largest = 8, 1, 10, 16
        options.hours = 1
    console = Console(width=120)
    for name in options.table or TABLES:
        console.print(TABLES[name](options))


TABLES: dict[str, Callable[[argparse.Namespace], Table]] = {
    "sizes": lambda options: by_size(options.hosts, options.clusters),
    "trees": lambda options: against_random_trees(options.hosts, options.trees),
    "hosts": lambda options: by_hosts(options.largest),
    "drift": lambda options: over_hours(options.hosts, options.hours),
}


def by_size(num_hosts: int, num_clusters: int) -> Table:
    """Improvement by operation and size: mean, least and most of the clusters."""
    table = Table(
        title=f"Less time than MPICH, {num_clusters} clusters of {num_hosts} hosts",
        caption=CONDITIONS,
    )
    for column in ("operation", "size", "CMPI", "ours", "the paper's"):
        table.add_column(column, justify="right")
    clusters = [mesh(num_hosts, seed) for seed in range(num_clusters)]
    for operation, of_paper in OPERATIONS.items():
        means = []
        for size_bytes in SIZES_BYTES:
            found = [
                [improvement(plan, operation, network, size_bytes) for network in clusters]
                for plan in (by_paper, by_us)
            ]
            means.append([np.mean(values) for values in found])
            table.add_row(operation, format_size(size_bytes), *map(spread, found), "")
        table.add_row(
            operation, "mean", *map(percent, np.mean(means, axis=0)), percent(of_paper),
            end_section=True,
        )  # fmt: skip
    return table


def against_random_trees(num_hosts: int, num_trees: int) -> Table:
    """How many random trees are faster than what was planned, on one cluster."""
    network, size_bytes = mesh(num_hosts, 0), 2**20
    table = Table(
        title=f"{num_trees:,} random trees on a cluster of {num_hosts} hosts, 1 MiB",
        caption="The paper: of 10,000,000 random trees none is faster than CMPI's.",
    )
    for column in ("operation", "best of them, ms", "CMPI, ms", "faster than it", "ours, ms"):
        table.add_column(column, justify="right")
    table.add_column("faster than ours", justify="right")
    for operation in OPERATIONS:
        planned_s = [time_s(plan, operation, network, size_bytes) for plan in (by_paper, by_us)]
        trees = against_trees(operation, network, size_bytes, num_trees, planned_s)
        cells = [f"{1e3 * trees.best_s:.4g}"]
        for of_plan_s, num_faster in zip(planned_s, trees.num_faster, strict=True):
            cells += [f"{1e3 * of_plan_s:.4g}", str(num_faster)]
        table.add_row(operation, *cells)
    return table


def by_hosts(largest: int) -> Table:
    """Improvement on ever larger clusters; ours only where planning takes seconds."""
    table = Table(
        title="Less time than MPICH by number of hosts, mean of 64 KiB and 1 MiB",
        caption="The paper: 25.4 to 31.2 % less with 32 to 2048 ranks.",
    )
    table.add_column("hosts", justify="right")
    for operation in OPERATIONS:
        for name in ("CMPI", "ours"):
            table.add_column(f"{operation}, {name}", justify="right")
    num_hosts = min(32, largest)
    while num_hosts <= largest:
        network = mesh(num_hosts, 0)
        cells = []
        for operation in OPERATIONS:
            for plan in (by_paper, by_us):
                is_long = plan is by_us and num_hosts > MAX_HOSTS_OF_OURS
                found = [
                    improvement(plan, operation, network, size_bytes)
                    for size_bytes in (() if is_long else (64 * 2**10, 2**20))
                ]
                cells.append(percent(float(np.mean(found))) if found else "")
        table.add_row(str(num_hosts), *cells)
        num_hosts *= 2
    return table


MAX_HOSTS_OF_OURS = 512

STEP_H = 0.5
MAX_DRIFT_RATIO = 0.2
"""The paper plans anew when measured and predicted times differ by more."""


def over_hours(num_hosts: int, num_hours: float) -> Table:
    """Improvement while the network drifts: planned anew each time, by the rule, and once."""
    title = f"Less time than MPICH over {num_hours:.0f} hours, {num_hosts} hosts, 1 MiB"
    table = Table(
        title=title, caption=f"Correlation of a pair with itself: 1/e in {DRIFT_H:.0f} hours."
    )
    for column in ("operation", "plans", "anew each time", "by the rule", "planned, times", "once"):
        table.add_column(column, justify="right")
    networks = list(
        itertools.islice(drifting_mesh(num_hosts, 0, STEP_H), 1 + round(num_hours / STEP_H))
    )
    for operation in OPERATIONS:
        of_mpich_s = np.array(
            [
                fl.collectives.predicted_s(network, as_given(operation, network, 2**20))
                for network in networks
            ]
        )
        for name, plan in (("CMPI", by_paper), ("ours", by_us)):
            followed = [followed_s(plan, operation, networks, most) for most in DRIFTS]
            means = [percent(float(np.mean(1 - times_s / of_mpich_s))) for times_s, _ in followed]
            anew, by_rule, once = means
            table.add_row(operation, name, anew, by_rule, str(followed[1][1]), once)
    return table


DRIFTS = (0.0, MAX_DRIFT_RATIO, np.inf)
"""Differences beyond which it is planned anew: any, the paper's, none."""


def followed_s(
    plan: Plan, operation: str, networks: Sequence[fl.Network], max_drift_ratio: float
) -> tuple[np.ndarray, int]:
    """Predicted time on each network in turn, and how often it was planned."""
    schedule, expected_s, num_planned = None, 0.0, 0
    times_s = []
    for network in networks:
        if schedule is not None:
            took_s = fl.collectives.predicted_s(network, schedule)
        if schedule is None or abs(took_s - expected_s) > max_drift_ratio * expected_s:
            schedule, num_planned = plan(operation, network, 2**20), num_planned + 1
            took_s = expected_s = fl.collectives.predicted_s(network, schedule)
        times_s.append(took_s)
    return np.array(times_s), num_planned


def improvement(plan: Plan, operation: str, network: fl.Network, size_bytes: int) -> float:
    """How much less time than MPICH's algorithm a plan needs, as a fraction."""
    of_mpich_s = fl.collectives.predicted_s(network, as_given(operation, network, size_bytes))
    return 1.0 - time_s(plan, operation, network, size_bytes) / of_mpich_s


def time_s(plan: Plan, operation: str, network: fl.Network, size_bytes: int) -> float:
    """Predicted time on the network as it is, whatever the plan was made from."""
    return fl.collectives.predicted_s(network, plan(operation, network, size_bytes))


def by_paper(operation: str, network: fl.Network, size_bytes: int) -> fl.Schedule:
    """By its algorithms, from what its probe of single pairs sees."""
    return fl.collectives.plan(operation, pairs_only(network), size_bytes, method="cmpi")


def by_us(operation: str, network: fl.Network, size_bytes: int) -> fl.Schedule:
    return fl.collectives.plan(operation, network, size_bytes)


def as_given(operation: str, network: fl.Network, size_bytes: int) -> fl.Schedule:
    """MPICH's own algorithm, hosts in their order."""
    return fl.Schedule(
        operation=operation,
        form="native",
        method="given",
        num_hosts=network.num_hosts,
        root=0,
        message_bytes=size_bytes,
        order=tuple(range(network.num_hosts)),
    )


def spread(values: Sequence[float]) -> str:
    return f"{percent(float(np.mean(values)))} ({percent(min(values))} to {percent(max(values))})"


def percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


if __name__ == "__main__":
    main()
