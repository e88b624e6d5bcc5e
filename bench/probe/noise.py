#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far one pair's medians differ from probe to probe, compared with their intervals.

Six quick probes of the same emulated hosts, recorded on a quiet machine and on a busy one
(`recorded/repeated`). `fairlead.decide.noise` takes the median spread of all pairs' intervals,
times the ratio in the last column, for the noise of each pair: its constants are checked here.

With --record FOLDER such series are measured anew, with --load N while N processes are busy.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
from busy import busy

import fairlead as fl
from fairlead.decide.noise import BANDWIDTH_RATIO, LATENCY_RATIO, late_spread, log_spread
from fairlead.lab import Lab

RECORDED = Path(__file__).with_name("recorded") / "repeated"
SCENARIOS = ("two-racks", "pairwise", "flat")
NUM_PROBES = 6
METRICS = {
    "latency": ("latency_s", "latency_low_s", "latency_high_s"),
    "bandwidth": ("bandwidth_Bps", "bandwidth_low_Bps", "bandwidth_high_Bps"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the recorded series, as without it")
    parser.add_argument("--record", type=Path, help="measure anew, into this folder")
    parser.add_argument("--load", type=int, default=0, help="processes that keep a core busy")
    options = parser.parse_args()
    if options.record is not None:
        record(options.record, options.load)
    folders = sorted(RECORDED.iterdir()) if options.record is None else [options.record]
    table = Table(box=None, title=f"Repeated quick probes, {NUM_PROBES} of each cloud")
    for heading in ("series", "cloud", "metric", "differ by", "intervals say", "ratio"):
        table.add_column(heading)
    for folder in folders:
        for scenario in SCENARIOS:
            for metric in METRICS:
                table.add_row(folder.name, scenario, metric, *row(folder, scenario, metric))
    console = Console(width=110)
    console.print(table)
    console.print(
        f"fairlead.decide.noise: latency x {LATENCY_RATIO}, bandwidth x {BANDWIDTH_RATIO}"
    )


def row(folder: Path, scenario: str, metric: str) -> list[str]:
    """Standard deviation of a logarithm from probe to probe, as found and as the intervals say."""
    networks = [fl.Network.load(file) for file in sorted(folder.glob(f"{scenario}-*.net.npz"))]
    off = ~np.eye(networks[0].num_hosts, dtype=bool)
    value, low, high = METRICS[metric]
    logs = np.log([getattr(network, value)[off] for network in networks])
    found = float(np.sqrt(np.mean(logs.var(axis=0, ddof=1))))
    spreads = [
        late_spread(getattr(network, value), getattr(network, low))
        if metric == "bandwidth"
        else log_spread(getattr(network, low), getattr(network, high))
        for network in networks
    ]
    said = float(np.mean([np.nanmedian(spread[off]) for spread in spreads if spread is not None]))
    return [f"{found:.2f}", f"{said:.2f}", f"{found / said:.2f}"]


def record(folder: Path, load: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with busy(load):
        for scenario in SCENARIOS:
            with Lab.up(scenario) as lab:
                for number in range(1, NUM_PROBES + 1):
                    file = folder / f"{scenario}-{number}.net.npz"
                    command = [sys.executable, "-m", "fairlead", "probe", "-o", str(file)]
                    hosts = ["--hostfile", str(lab.hostfile)]
                    lab.run([*command, *hosts], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
