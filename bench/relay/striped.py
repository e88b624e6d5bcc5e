#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Large messages over all paths at once, compared with the maximum flow of the emulated network.

Messages go one way over each pair of hosts in turn, all of them striped over the paths of the plan.
The bound of a pair is the maximum flow in the graph of the lab: out of each host its interface,
then the rates of pairs, then the other hosts' interfaces; any number of relays, each of which may
send on at once. Rates are those of bytes on the wire, of which 4.4 % are headers of Ethernet, IP
and TCP, so 0.956 of the bound can be reached. They are lower than the scenario's, as all hosts
share the processors of this machine, and messages would wait for these instead.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from clouds import compiled, measured, run_in
from pairs import matrix
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario

WANTED_RATIO = 0.9


def main() -> None:
    options = parsed()
    scenario = Scenario.load(options.scenario, options.hosts).slower(options.slower)
    times_s: list[np.ndarray] = []
    with tempfile.TemporaryDirectory() as name, Lab.up(scenario) as lab:
        folder = Path(name)
        argv = [str(compiled(Path(__file__).with_name("pingpong.c"), folder))]
        argv += [str(options.bytes), str(options.rounds)]
        network = measured(lab)
        bound_Bps = bounds_Bps(lab.shaped_Bps(), np.array(scenario.nic_Bps))
        for repeat in range(options.repeats):
            result = run_in(
                lab, network, argv, len(lab.hosts), folder / str(repeat),
                with_relays=True, is_forced=True,
            )  # fmt: skip
            times_s.append(matrix(result["output"], len(lab.hosts)))
        report(options, lab.shaped_Bps(), bound_Bps, options.bytes / np.array(times_s))


def bounds_Bps(pair_Bps: np.ndarray, nic_Bps: np.ndarray) -> np.ndarray:
    """Maximum flow of each pair of hosts, shape (H, H), diagonal `nan`.

    Host h is node h; its way out of the interface node H + h, its way in node 2 H + h.
    """
    num_hosts = len(nic_Bps)
    capacity = np.zeros((3 * num_hosts, 3 * num_hosts), dtype=np.int32)
    for src in range(num_hosts):
        capacity[src, num_hosts + src] = nic_Bps[src]
        capacity[2 * num_hosts + src, src] = nic_Bps[src]
        for dst in range(num_hosts):
            if src != dst:
                rate_Bps = min(pair_Bps[src, dst], nic_Bps[src])
                capacity[num_hosts + src, 2 * num_hosts + dst] = rate_Bps
    graph = csr_array(capacity)
    bound_Bps = np.full((num_hosts, num_hosts), np.nan)
    for src in range(num_hosts):
        for dst in range(num_hosts):
            if src != dst:
                bound_Bps[src, dst] = maximum_flow(graph, src, dst).flow_value
    return bound_Bps


def report(
    options: argparse.Namespace, pair_Bps: np.ndarray, bound_Bps: np.ndarray, rates_Bps: np.ndarray
) -> None:
    """Print a row for each pair. `rates_Bps` has the shape (repeats, H, H)."""
    console = Console(width=120)
    title = (
        f"{options.scenario} / {options.slower:g}, {options.bytes} bytes, {options.repeats} runs"
    )
    table = Table("pair", "direct, MB/s", "bound", "striped", "of the bound", title=title)
    ratios = np.median(rates_Bps, axis=0) / bound_Bps
    for src, dst in np.argwhere(~np.isnan(bound_Bps)):
        rates = (pair_Bps, bound_Bps, np.median(rates_Bps, axis=0))
        table.add_row(
            f"h{src} -> h{dst}",
            *(f"{each[src, dst] / 1e6:.2f}" for each in rates),
            f"{ratios[src, dst]:.2f}",
        )
    console.print(table)
    mean = mean_interval([float(np.nanmean(each / bound_Bps)) for each in rates_Bps])
    reached = np.mean(ratios[~np.isnan(ratios)] >= WANTED_RATIO)
    console.print(
        f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}] of the maximum flow, mean of pairs "
        f"(wanted: {WANTED_RATIO}); {reached:.0%} of the pairs reach it, the worst has "
        f"{np.nanmin(ratios):.2f}"
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="3 hosts, a run, 2 rounds of 1 MiB")
    parser.add_argument("--scenario", default="pairwise")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--bytes", type=int, default=1 << 24)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--slower", type=float, default=2.0, help="divides the scenario's rates")
    options = parser.parse_args()
    if options.short:
        options.hosts, options.repeats, options.rounds, options.bytes = 3, 1, 2, 1 << 20
    return options


if __name__ == "__main__":
    main()
