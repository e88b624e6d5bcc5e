#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap table II: what measuring and mapping cost, the paper's figures beside ours.

The paper makes 1000 round trips of 1 KiB with each pair. So does the row "as many samples", and
takes as many trains of messages in each direction for the bandwidth; the probe that Fairlead makes
by default stops as soon as its few samples agree. Each row shows the number of samples of a pair:
round trips, and trains of one direction.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.flows.statistics import mean_interval
from fairlead.lab import Lab

PAPER_PROBE_S = {8: 0.69, 32: 1.67}
PAPER_SAMPLES = 1000
PAPER_MAPPING_S = {64: 0.005, 256: 0.028}
RANKS_PER_HOST = 8
NO_INTERVAL_IS_SO_NARROW = 1e-9
PROBES = {
    "by default": (),
    "as many samples": (
        *("--cap", str(PAPER_SAMPLES), "--target", str(NO_INTERVAL_IS_SO_NARROW)),
        *("--timeout", "1800s"),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="2 repeats, default probe of 8 hosts")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--long-repeats", type=int, default=3, help="of as many samples")
    options = parser.parse_args()
    repeats = 2 if options.short else options.repeats
    result = Table(title="CloudMap table II, means [95 % interval]")
    for column in ("step", "paper", "here", "samples of a pair", "runs"):
        result.add_column(column, justify="left" if column == "step" else "right")
    for num_hosts, paper_s in list(PAPER_PROBE_S.items())[: 1 if options.short else None]:
        for name, probe_options in list(PROBES.items())[: 1 if options.short else None]:
            runs = repeats if name == "by default" else options.long_repeats
            times_s, samples = probing(num_hosts, runs, probe_options)
            step = f"probe of {num_hosts} hosts, {name}"
            taken = f"{samples} (paper: {PAPER_SAMPLES} round trips)"
            result.add_row(step, f"{paper_s} s", shown(times_s), taken, str(runs))
    for num_ranks, paper_s in PAPER_MAPPING_S.items():
        times_s = mapping(num_ranks, repeats)
        step = f"mapping of {num_ranks} tasks"
        result.add_row(step, f"{paper_s} s", shown(times_s), "", str(repeats))
    Console(width=120).print(result)


def probing(num_hosts: int, repeats: int, options: Sequence[str]) -> tuple[list[float], str]:
    """Seconds that the probe measures in the flat scenario, launch left out; and its samples."""
    times_s = []
    numbers: list[int] = []
    with tempfile.TemporaryDirectory() as folder, Lab.up("flat", hosts=num_hosts) as lab:
        for _ in range(repeats):
            file = Path(folder) / "a.net.npz"
            lab.run(
                [*(sys.executable, "-m", "fairlead", "probe", "--quick", *options),
                 *("--hostfile", str(lab.hostfile), "-o", str(file))],
                check=True,
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            network = fl.Network.load(file)
            times_s.append(float(network.origin["probing_s"]))
            assert network.samples is not None
            numbers += network.samples[~np.eye(num_hosts, dtype=bool)].tolist()
    least, most = min(numbers), max(numbers)
    return times_s, str(least) if least == most else f"{least} to {most}"


def mapping(num_ranks: int, repeats: int) -> list[float]:
    """Seconds of `fl.place` by Scotch for a square stencil on hosts with uneven pairs."""
    side = round(num_ranks**0.5)
    hosts = [f"h{host}" for host in range(num_ranks // RANKS_PER_HOST)]
    noise = np.random.default_rng(0).lognormal(sigma=0.5, size=(len(hosts), len(hosts)))
    network = fl.Network(hosts, 5e-5 * noise, 1e8 * noise)
    cluster = fl.Cluster.uniform(hosts, slots=RANKS_PER_HOST)
    traffic = fl.Traffic(bytes=1e6 * neighbours(side), messages=neighbours(side))
    times_s = []
    for seed in range(repeats):
        started_s = time.perf_counter()
        fl.place(traffic, network, cluster, method="scotch", objective="sum", seed=seed)
        times_s.append(time.perf_counter() - started_s)
    return times_s


def neighbours(side: int) -> np.ndarray:
    """1 for each ordered pair of neighbours on a square grid, shape (side**2, side**2)."""
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    return np.kron(line, np.eye(side)) + np.kron(np.eye(side), line)


def shown(times_s: list[float]) -> str:
    interval = mean_interval(times_s)
    return f"{interval.value:.4f} s [{interval.low:.4f}, {interval.high:.4f}]"


if __name__ == "__main__":
    main()
