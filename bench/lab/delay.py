#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How exact the emulated cloud's delays are, and the rate of a delayed pair.

One lab, whose host h0 has a pair of each delay. Packets: the median one-way time of a repeat, less
that of the pair without delay in the same repeat. Rate: the payload of one stream, once where the
link has 1 Gbit/s, and once where nothing but the machine limits it. Pairs alternate in a repeat.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from fairlead.flows.compare.statistics import mean_interval
from fairlead.lab import Lab, Scenario

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

DELAYS_US = (0, 50, 100, 250, 500, 1000, 5000, 20000)
SHORT_DELAYS_US = (0, 100, 1000)
RATES = ("1Gbit/s", "100Gbit/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="2 repeats, 3 delays, short streams")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--packets", type=int, default=50, help="per pair and repeat")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a stream")
    add_tables_option(parser)
    options = parser.parse_args()
    delays_us = SHORT_DELAYS_US if options.short else DELAYS_US
    if options.short:
        options.repeats, options.packets, options.seconds = 2, 10, 0.1
    repeats = range(options.repeats)
    with Lab.up(cloud(delays_us, RATES[0])) as lab:
        delay_by = lab.delay_by().value
        times_us = [packets_us(lab, delays_us, options.packets) for _ in repeats]
        shaped = [streams_bit_per_s(lab, delays_us, options.seconds) for _ in repeats]
    with Lab.up(cloud(delays_us, RATES[1])) as lab:
        free = [streams_bit_per_s(lab, delays_us, options.seconds) for _ in repeats]
    table = Table(
        title=f"delay by {delay_by}: mean of {options.repeats} repeats [95 % interval], "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    for column in ("wanted", "added, us", "off by", "at 1 Gbit/s, Mbit/s", "unlimited, Mbit/s"):
        table.add_column(column, justify="right")
    for number, delay_us in enumerate(delays_us):
        added = [repeat[number] - repeat[0] for repeat in times_us]
        table.add_row(
            f"{delay_us} us",
            interval(added) if delay_us else "-",
            f"{np.mean(added) - delay_us:+.0f} us" if delay_us else "-",
            interval([repeat[number] * 1e-6 for repeat in shaped]),
            interval([repeat[number] * 1e-6 for repeat in free]),
        )
    Console().print(table)
    write_tables(options.tables, table)


def cloud(delays_us: Sequence[int], rate: str) -> Scenario:
    """Host h0, and behind it one host per delay."""
    given = [
        {"src": "h0", "dst": f"h{number}", "delay": f"{delay_us}us"}
        for number, delay_us in enumerate(delays_us, start=1)
    ]
    given += [row | {"src": row["dst"], "dst": "h0"} for row in given]
    return Scenario.model_validate(
        {"name": "delay", "hosts": len(delays_us) + 1, "nic": rate}
        | {"latency": {"pairs": {"given": given}}}
    )


def packets_us(lab: Lab, delays_us: Sequence[int], num_packets: int) -> list[float]:
    """Median one-way time of each pair."""
    pairs = [(0, number) for number in range(1, len(delays_us) + 1)]
    return [float(np.median(times_s)) * 1e6 for times_s in lab.ping(pairs, num_packets)]


def streams_bit_per_s(lab: Lab, delays_us: Sequence[int], seconds: float) -> list[float]:
    """Payload rate over each pair, one after the other."""
    return [
        8 * lab.stream_Bps([(0, number)], 0.1 + 16e-6 * delay_us, seconds)[0]
        for number, delay_us in enumerate(delays_us, start=1)
    ]


def interval(values: list[float]) -> str:
    mean = mean_interval(values)
    return f"{mean.value:.0f} [{mean.low:.0f}, {mean.high:.0f}]"


if __name__ == "__main__":
    main()
