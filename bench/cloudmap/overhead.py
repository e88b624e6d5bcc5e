#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap table II: what measuring and mapping cost, the paper's figures beside ours."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import fairlead as fl
from fairlead.lab import Lab
from fairlead.statistics import mean_interval

PAPER_PROBE_S = {8: 0.69, 32: 1.67}
PAPER_MAPPING_S = {64: 0.005, 256: 0.028}
RANKS_PER_HOST = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="2 repeats")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    repeats = 2 if options.short else options.repeats
    result = Table(title=f"CloudMap table II, mean of {repeats} [95 % interval]")
    for column in ("step", "paper", "here"):
        result.add_column(column, justify="left" if column == "step" else "right")
    for num_hosts, paper_s in PAPER_PROBE_S.items():
        times_s = probing(num_hosts, repeats)
        result.add_row(f"probe of {num_hosts} hosts", f"{paper_s} s", shown(times_s))
    for num_ranks, paper_s in PAPER_MAPPING_S.items():
        times_s = mapping(num_ranks, repeats)
        result.add_row(f"mapping of {num_ranks} tasks", f"{paper_s} s", shown(times_s))
    Console().print(result)


def probing(num_hosts: int, repeats: int) -> list[float]:
    """Seconds that `fairlead probe --quick` measures in the flat scenario, launch left out."""
    times_s = []
    with tempfile.TemporaryDirectory() as folder, Lab.up("flat", hosts=num_hosts) as lab:
        for _ in range(repeats):
            file = Path(folder) / "a.net.npz"
            lab.run(
                [*(sys.executable, "-m", "fairlead", "probe", "--quick"),
                 *("--hostfile", str(lab.hostfile), "-o", str(file))],
                check=True,
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
            times_s.append(float(fl.Network.load(file).origin["probing_s"]))
    return times_s


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
