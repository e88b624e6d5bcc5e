#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the paper CMPI again, on virtual clusters, by predicted times.

Gong, He, Zhong: "Network performance aware MPI collective communication operations in the cloud",
TPDS 2015. A cluster is a full mesh of uneven directed pairs (`mesh` in `clouds.py`), another for
each seed. MPICH is its textbook algorithm on the hosts in the given order; an improvement is how
much less time than that is needed.

python bench/collectives/paper.py          a quarter of an hour; --short for 8 hosts
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from clouds import mesh, pairs_only
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.units import format_size

OPERATIONS = {"bcast": 0.382, "reduce": 0.135, "scatter": 0.227, "gather": 0.273}
"""With the paper's mean improvement over MPICH."""

SIZES_BYTES = (2**10, 64 * 2**10, 2**20, 8 * 2**20)

Plan = Callable[[str, fl.Network, int], fl.Schedule]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="8 hosts, one cluster, few trees")
    parser.add_argument("--hosts", type=int, default=32, help="of a cluster")
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--ours", type=int, default=10, help="clusters of these for our plans")
    parser.add_argument("--trees", type=int, default=10_000, help="random trees, each of a cluster")
    parser.add_argument("--largest", type=int, default=2048, help="hosts of the largest cluster")
    options = parser.parse_args()
    if options.short:
        options.hosts, options.clusters, options.trees, options.largest = 8, 1, 10, 16
    console = Console(width=120)
    console.print(by_size(options.hosts, options.clusters, options.ours))
    console.print(against_random_trees(options.hosts, options.trees))
    console.print(by_hosts(options.largest))


def by_size(num_hosts: int, num_clusters: int, num_ours: int) -> Table:
    """Improvement by operation and size: mean, least and most of the clusters."""
    table = Table(title=f"Less time than MPICH, {num_clusters} clusters of {num_hosts} hosts")
    for column in ("operation", "size", "CMPI", f"ours, {num_ours} clusters", "the paper's"):
        table.add_column(column, justify="right")
    clusters = [mesh(num_hosts, seed) for seed in range(num_clusters)]
    for operation, of_paper in OPERATIONS.items():
        means = []
        for size_bytes in SIZES_BYTES:
            found = [
                [improvement(plan, operation, network, size_bytes) for network in chosen]
                for plan, chosen in ((by_paper, clusters), (by_us, clusters[:num_ours]))
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
    network = mesh(num_hosts, 0)
    random = np.random.default_rng(0)
    table = Table(title=f"{num_trees} random trees on a cluster of {num_hosts} hosts, 1 MiB")
    for column in ("operation", "best of them, ms", "CMPI, ms", "faster than it", "ours, ms"):
        table.add_column(column, justify="right")
    table.add_column("faster than ours", justify="right")
    for operation in OPERATIONS:
        trees_s = np.array([time_of_tree_s(operation, network, random) for _ in range(num_trees)])
        cells = [f"{1e3 * trees_s.min():.4g}"]
        for plan in (by_paper, by_us):
            planned_s = time_s(plan, operation, network, 2**20)
            cells += [f"{1e3 * planned_s:.4g}", str((trees_s < planned_s).sum())]
        table.add_row(operation, *cells)
    return table


def by_hosts(largest: int) -> Table:
    """Improvement on ever larger clusters; ours only where planning takes seconds."""
    table = Table(title="Less time than MPICH by number of hosts, mean of 64 KiB and 1 MiB")
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
                cells.append(percent(np.mean(found)) if found else "")
        table.add_row(str(num_hosts), *cells)
        num_hosts *= 2
    return table


MAX_HOSTS_OF_OURS = 512


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


def time_of_tree_s(operation: str, network: fl.Network, random: np.random.Generator) -> float:
    """Predicted time along a tree in which each host's parent is any that came before it."""
    hosts = np.concatenate([[0], 1 + random.permutation(network.num_hosts - 1)])
    parent_of_host = np.full(network.num_hosts, -1)
    for place in range(1, network.num_hosts):
        parent_of_host[hosts[place]] = hosts[random.integers(place)]
    is_split = operation in ("scatter", "gather")
    schedule = fl.Schedule(
        operation=operation,
        form="split_tree" if is_split else "forest",
        method="random",
        num_hosts=network.num_hosts,
        root=0,
        message_bytes=2**20,
        trees=(tuple(parent_of_host.tolist()),),
        tree_of_segment=() if is_split else (0,),
        share_of_segment=() if is_split else (1.0,),
        window=0 if is_split else 1,
    )
    return fl.collectives.predicted_s(network, schedule)


def spread(values: Sequence[float]) -> str:
    return f"{percent(np.mean(values))} ({percent(np.min(values))} to {percent(np.max(values))})"


def percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


if __name__ == "__main__":
    main()
