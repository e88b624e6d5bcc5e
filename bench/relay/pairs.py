#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All pairs of hosts, 1 MiB one way, one pair after the other: by the MPI alone and with relays.

MCM sends on all pairs at once and adds up two legs, which take 12.7 % and 29.3 % less on two pairs
and no less on a third (mcm_figures.py). Here messages are relayed. Printed is which share of the
pairs gains, and how much; with `--degrade` the same for the pair that has fallen to a
tenth after the network was measured. Also take part the paper's rule (`mcm`), and what one would
try first: several connections of the MPI itself for each pair, and MPTCP (Debian: mptcpize). On
`flow-cap`, where one connection carries a fifth of an interface, routers are to use several
connections of the direct path, and no relay: printed is which part of the bytes by routers went by
third hosts.

With `--with-cg`, as in MCM's experiment, examples/cg runs on 16 ranks meanwhile, by the MPI alone.
The hosts share two cores, so rates are to be lower then (`--slower 10`): else the load is one of
the processors, not of the network.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from clouds import compiled, measured, repeat_meanwhile, run_in
from rich.console import Console
from rich.table import Table

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab
from fairlead.lab.scenario import Scenario
from fairlead.model.network import Network

WAYS: dict[str, dict[str, Any]] = {
    "the MPI alone": {"with_relays": False},
    "relays": {"with_relays": True},
    "relays by mcm": {"with_relays": True, "rule": "mcm"},
    "4 connections": {"with_relays": False, "launcher_args": ("--mca", "btl_tcp_links", "4")},
    # Open MPI 4.1.4 does not end with them on 8 hosts.
    "8 connections": {"with_relays": False, "launcher_args": ("--mca", "btl_tcp_links", "8")},
    "MPTCP": {"with_relays": False},
}
"""What `run_in` is called with; that of MPTCP is only known where it is installed."""

MOST_HOSTS_WITH_8_CONNECTIONS = 4

GAIN_RATIO = 0.05
"""A pair gains if its time falls by more than this."""

CG_RANKS = 16
"""As in the paper."""


def main() -> None:
    options = parsed()
    scenario = Scenario.load(options.scenario, options.hosts).slower(options.slower)
    console = Console(width=140)
    with tempfile.TemporaryDirectory() as name, Lab.up(scenario) as lab:
        folder = Path(name)
        argv = [str(compiled(Path(__file__).with_name("pingpong.c"), folder))]
        argv += [str(options.bytes), str(options.rounds)]
        network = measured(lab)
        if options.degrade:
            lab.degrade("h0", "h1", 0.1)
        ways = ways_of(options, len(lab.hosts))
        times: dict[str, list[np.ndarray]] = {way: [] for way in ways}
        delivered_bytes = by_third_hosts_bytes = 0.0
        for repeat in range(options.repeats):
            for way in list(ways)[:: 1 if repeat % 2 else -1]:
                work = folder / f"{repeat}-{way}"
                with load(lab, network, work / "cg", options.with_cg):
                    result = run_in(lab, network, argv, len(lab.hosts), work / "pairs", **ways[way])
                times[way].append(matrix(result["output"], len(lab.hosts)))
                for counters in result["counters"] if way == "relays" else []:
                    delivered_bytes += counters["delivered_bytes_total"]
                    by_third_hosts_bytes += counters["forwarded_bytes_total"]
                    by_third_hosts_bytes -= counters["delivered_bytes_total"]
    report(console, options, times)
    console.print(
        f"relays: {by_third_hosts_bytes / max(delivered_bytes, 1.0):.1%} of "
        f"{delivered_bytes / 1e9:.2f} GB by routers went by third hosts"
    )


def ways_of(options: argparse.Namespace, num_hosts: int) -> dict[str, dict[str, Any]]:
    """Those of WAYS that are wanted and possible here."""
    ways = {way: WAYS[way] for way in WAYS if way not in options.without}
    if num_hosts > MOST_HOSTS_WITH_8_CONNECTIONS:
        ways.pop("8 connections", None)
    if "MPTCP" in ways:
        if shutil.which("mptcpize") is None:
            print("without MPTCP: mptcpize is not installed", flush=True)
            del ways["MPTCP"]
        else:
            # What `mptcpize run` gives to the program: remote ranks get it from the launcher.
            printed = subprocess.run(
                ["mptcpize", "run", "printenv", "LD_PRELOAD"],
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
            ways["MPTCP"] = WAYS["MPTCP"] | {"preload": printed.stdout.strip()}
    return ways


def load(lab: Lab, network: Network, folder: Path, has_cg: bool) -> AbstractContextManager[object]:
    if not has_cg:
        return contextlib.nullcontext()
    program = find(detect("mpirun.openmpi")).example("cg")
    return repeat_meanwhile(lab, network, [str(program)], CG_RANKS, folder, with_relays=False)


def matrix(output: str, num_hosts: int) -> np.ndarray:
    seconds = np.full((num_hosts, num_hosts), np.nan)
    for line in output.splitlines():
        src, dst, value = line.split()
        seconds[int(src), int(dst)] = float(value)
    return seconds


def report(console: Console, options: argparse.Namespace, times: dict[str, list]) -> None:
    direct = np.median(times["the MPI alone"], axis=0)
    relayed = np.median(times["relays"], axis=0)
    there = ~np.isnan(direct)
    saved = 1.0 - relayed[there] / direct[there]
    if options.with_cg:
        console.print(table_of_pairs(options.bytes, direct, relayed))
    console.print(
        f"{options.scenario}: {there.sum()} pairs, {options.bytes} bytes, "
        f"{options.repeats} runs each, {options.rounds} rounds"
    )
    gaining = saved > GAIN_RATIO
    console.print(
        f"{gaining.mean():.0%} of the pairs gain more than {GAIN_RATIO:.0%}; of these the median "
        f"saves {np.median(saved[gaining]) if gaining.any() else 0:.1%} of the time, the best "
        f"{saved.max():.1%} (MCM, by two legs added, on three pairs: 12.7 %, 29.3 %, none)"
    )
    console.print(
        f"worst pair: {saved.min():+.1%}; {np.mean(saved < -GAIN_RATIO):.0%} lose as much"
    )
    for way in list(times)[1:]:
        ratios = [
            float(np.nanmean(one) / np.nanmean(other))
            for one, other in zip(times[way], times["the MPI alone"], strict=True)
        ]
        mean = mean_interval(ratios) if len(ratios) > 1 else None
        console.print(
            f"{way}: time of all pairs, as part of the MPI's own: {np.mean(ratios):.3f}"
            + (f" [{mean.low:.3f}, {mean.high:.3f}]" if mean else "")
        )
    if options.degrade:
        console.print(
            f"h0 -> h1 at a tenth: {options.bytes / direct[0, 1] / 1e6:.1f} MB/s directly, "
            f"{options.bytes / relayed[0, 1] / 1e6:.1f} MB/s with relays, "
            f"{direct[0, 1] / relayed[0, 1]:.1f} times (wanted: 4)"
        )


def table_of_pairs(num_bytes: int, direct_s: np.ndarray, relayed_s: np.ndarray) -> Table:
    table = Table("pair", "by the MPI, ms", "with relays, ms", "saved", title=f"{num_bytes} bytes")
    for src, dst in np.argwhere(~np.isnan(direct_s)):
        one, other = direct_s[src, dst], relayed_s[src, dst]
        table.add_row(
            f"h{src} -> h{dst}", f"{1e3 * one:.1f}", f"{1e3 * other:.1f}", f"{1 - other / one:+.1%}"
        )
    return table


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="3 hosts, a run, 2 rounds")
    parser.add_argument("--scenario", default="pairwise")
    parser.add_argument("--degrade", action="store_true", help="h0 -> h1 falls to a tenth first")
    parser.add_argument("--with-cg", action="store_true", help="while cg runs on 16 ranks")
    parser.add_argument("--slower", type=float, default=1.0, help="divides the scenario's rates")
    parser.add_argument("--without", action="append", default=[], choices=list(WAYS)[2:])
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--hosts", type=int, help="default: the scenario's")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    if options.short:
        options.hosts, options.repeats, options.rounds = 3, 1, 2
    return options


if __name__ == "__main__":
    main()
