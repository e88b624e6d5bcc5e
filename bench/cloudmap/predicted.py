#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap figures 6 to 11, 13 and 15, predicted: recorded NAS benchmarks on the lab's scenarios.

Communication time (eq. 4) and bytes between hosts (eq. 1-2) of each method against the launcher's
placement, on the rates that the scenario is shaped to. Nothing is measured: the same everywhere.
"""

from __future__ import annotations

import argparse

import numpy as np
import paper
import recorded
from candidates import BY_CHANCE
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.decide.placement import METHODS
from fairlead.lab import Scenario
from fairlead.lab.topology import draw_topology

LATENCY_S = 50e-6  # Of the lab's links, as `fairlead probe` finds it there; all pairs alike.
RANDOM_SEEDS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="three recordings, one scenario")
    short = parser.parse_args().short
    console = Console(width=170)
    for scenario in ["two-racks"] if short else ["two-racks", "pairwise", "flat"]:
        recordings = ["cg.C.32", "ft.B.32", "mg.C.32"] if short else recorded.names()
        console.print(table(scenario, recordings))
    console.print(paper.beside("figures 6 to 11", "figure 13", "figure 15"))


def table(scenario: str, recordings: list[str]) -> Table:
    """Communication time, and in brackets bytes between hosts, relative to the launcher's."""
    methods = [method for method in METHODS if method != "launcher"]
    result = Table(title=f"{scenario}: predicted communication time (bytes between hosts), x")
    for column in ("recording", *methods):
        result.add_column(column, justify="left" if column == "recording" else "right")
    network = network_of(scenario)
    cluster = fl.Cluster.uniform(network.hosts, slots=4)
    for name in recordings:
        traffic = recorded.load(name)
        if traffic.total.bytes.sum() == 0:
            continue  # EP sends nothing from pair to pair.
        cells = [relative(traffic, network, cluster, method) for method in methods]
        result.add_row(name, *cells)
    return result


def relative(traffic: fl.Traffic, network: fl.Network, cluster: fl.Cluster, method: str) -> str:
    """Costs relative to the launcher's; methods with random choices are the mean over several
    seeds."""
    before = fl.evaluate(fl.place(traffic, network, cluster, method="launcher"), traffic, network)
    seeds = range(RANDOM_SEEDS if method in BY_CHANCE else 1)
    after = [
        fl.evaluate(
            fl.place(traffic, network, cluster, method=method, objective="sum", seed=seed),
            traffic,
            network,
        )
        for seed in seeds
    ]
    time_ratio = np.mean([cost.comm_time_s for cost in after]) / before.comm_time_s
    bytes_ratio = np.mean([cost.inter_bytes for cost in after]) / before.inter_bytes
    return f"{time_ratio:.2f} ({bytes_ratio:.2f})"


def network_of(scenario: str) -> fl.Network:
    """The network that a perfect probe of the scenario would find."""
    topology = draw_topology(Scenario.load(scenario))
    latency_s = np.full((topology.num_hosts, topology.num_hosts), LATENCY_S)
    np.fill_diagonal(latency_s, 0)
    return fl.Network(topology.hosts, latency_s, topology.shaped_Bps())


if __name__ == "__main__":
    main()
