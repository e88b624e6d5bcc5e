#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All pairs of hosts, 1 MiB one way: by the MPI alone and with relays, in turns (MCM's experiment).

The paper found 12.7 % and 29.3 % on two pairs, and one that keeps the direct way. Printed is which
share of the pairs gains, and how much; with `--degrade` the same for the pair that has fallen to a
tenth after the network was measured. What one would try first takes part too: several connections
of the MPI itself for each pair. On `flow-cap`, where one connection carries a fifth of an
interface, routers are to use several connections of the direct path, and no relay: told is which
part of the bytes by routers went by third hosts.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from clouds import compiled, measured, run_in
from rich.console import Console

from fairlead.flows.statistics import mean_interval
from fairlead.lab import Lab

WAYS = {
    "the MPI alone": {"with_relays": False},
    "relays": {"with_relays": True},
    # With 8 of them Open MPI 4.1.4 does not end on 8 hosts.
    "4 connections": {"with_relays": False, "launcher_args": ("--mca", "btl_tcp_links", "4")},
}

GAIN_RATIO = 0.05
"""A pair gains if its time falls by more than this."""


def main() -> None:
    options = parsed()
    console = Console(width=140)
    with (
        tempfile.TemporaryDirectory() as name,
        Lab.up(options.scenario, hosts=options.hosts) as lab,
    ):
        folder = Path(name)
        argv = [str(compiled(Path(__file__).with_name("pingpong.c"), folder))]
        argv += [str(options.bytes), str(options.rounds)]
        network = measured(lab)
        if options.degrade:
            lab.degrade("h0", "h1", 0.1)
        times: dict[str, list[np.ndarray]] = {way: [] for way in WAYS}
        delivered_bytes = by_third_hosts_bytes = 0.0
        for repeat in range(options.repeats):
            for way in list(WAYS)[:: 1 if repeat % 2 else -1]:
                work = folder / f"{repeat}-{way}"
                result = run_in(lab, network, argv, len(lab.hosts), work, **WAYS[way])
                times[way].append(matrix(result["output"], len(lab.hosts)))
                for counters in result["counters"]:
                    delivered_bytes += counters["delivered_bytes_total"]
                    by_third_hosts_bytes += counters["forwarded_bytes_total"]
                    by_third_hosts_bytes -= counters["delivered_bytes_total"]
    report(console, options, times)
    console.print(
        f"relays: {by_third_hosts_bytes / max(delivered_bytes, 1.0):.1%} of "
        f"{delivered_bytes / 1e9:.2f} GB by routers went by third hosts"
    )


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
    console.print(
        f"{options.scenario}: {there.sum()} pairs, {options.bytes} bytes, "
        f"{options.repeats} runs each, {options.rounds} rounds"
    )
    gaining = saved > GAIN_RATIO
    console.print(
        f"{gaining.mean():.0%} of the pairs gain more than {GAIN_RATIO:.0%}; of these the median "
        f"saves {np.median(saved[gaining]) if gaining.any() else 0:.1%} of the time, the best "
        f"{saved.max():.1%} (paper, on three pairs: 12.7 %, 29.3 %, none)"
    )
    console.print(
        f"worst pair: {saved.min():+.1%}; {np.mean(saved < -GAIN_RATIO):.0%} lose as much"
    )
    for way in list(WAYS)[1:]:
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


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="4 hosts, 2 runs, 5 rounds")
    parser.add_argument("--scenario", default="pairwise")
    parser.add_argument("--degrade", action="store_true", help="h0 -> h1 falls to a tenth first")
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--hosts", type=int, help="default: the scenario's")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    if options.short:
        options.hosts, options.repeats, options.rounds = 4, 2, 5
    return options


if __name__ == "__main__":
    main()
