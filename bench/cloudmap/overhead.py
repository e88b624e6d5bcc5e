# SPDX-License-Identifier: Apache-2.0
"""CloudMap table II: what profiling and mapping take, measured in the emulated cloud.

The paper makes 1000 messages of 1 KB with each pair (section IV-A). So does the row "as many
samples", forth and back, and as many trains of messages in each direction for the bandwidth; the
probe that Fairlead makes by default stops as soon as its few samples agree.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import traces
from clouds import A7, Cloud
from gains import figure

import fairlead as fl
from fairlead.lab import Lab

Figures = list[dict[str, object]]
PAPER_PROFILE_S = {8: 0.69, 32: 1.67}
PAPER_MAPPING_S = {64: 0.005, 256: 0.028}
PAPER_SAMPLES = 1000
MAPPED = "bt"
NO_INTERVAL_IS_SO_NARROW = 1e-9
PROBES = {
    "by default": (),
    "as many samples": (
        *("--cap", str(PAPER_SAMPLES), "--target", str(NO_INTERVAL_IS_SO_NARROW)),
        *("--timeout", "1800s"),
    ),
}


def table_2(short: bool) -> Figures:
    """Seconds of each step: of the probe without its start, and of `scotch`."""
    rows: Figures = []
    for num_hosts, paper_s in list(PAPER_PROFILE_S.items())[: 1 if short else None]:
        for name, options in list(PROBES.items())[: 1 if short else None]:
            repeats = 1 if short else (10 if name == "by default" else 2)
            times_s, samples = profile(num_hosts, repeats, options)
            title = f"profiling {num_hosts} instances, {name} ({samples} a pair)"
            rows.append(figure(title, "s", times_s, paper_s))
    for num_ranks, paper_s in PAPER_MAPPING_S.items():
        for method in ("scotch", "scotch-best"):
            times_s = map_ranks(num_ranks, method, 1 if short else 10)
            rows.append(figure(f"mapping {num_ranks} tasks, {method}", "s", times_s, paper_s))
    return rows


def profile(num_hosts: int, repeats: int, options: Sequence[str]) -> tuple[list[float], str]:
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


def map_ranks(num_ranks: int, method: str, repeats: int) -> list[float]:
    """Seconds of `fl.place` for a recorded benchmark on A7 instances."""
    cloud = Cloud(A7, num_ranks // A7.cores)
    network, traffic = cloud.at(0), traces.traffic(f"{MAPPED}.B.{num_ranks}")
    times_s = []
    for seed in range(repeats):
        started_s = time.perf_counter()
        fl.place(traffic, network, cloud.cluster, method, objective="sum", seed=seed)
        times_s.append(time.perf_counter() - started_s)
    return times_s
