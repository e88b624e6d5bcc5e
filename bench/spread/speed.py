#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many messages a second one core simulates, on Synt_workload_1, under each kind of option."""

from __future__ import annotations

import argparse
import time

from rich.console import Console
from rich.table import Table

from fairlead.decide.jobs import place_jobs
from fairlead.simulation import SimulationOptions, Workload, simulate

REPEATS = 3
CASES = {
    "by default": SimulationOptions(),
    "shared interface": SimulationOptions(nic="shared"),
    "cut through": SimulationOptions(forwarding="cut_through"),
    "closed loop": SimulationOptions(loop="closed"),
    "Poisson": SimulationOptions(arrivals="poisson"),
}
WANTED = 3e6
"""Messages a second of one core: with fewer, long traces make the user wait."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a hundredth of the messages")
    scale = 0.01 if parser.parse_args().short else 0.2
    workload = Workload.load("Synt_workload_1")
    placement = place_jobs(workload, "cyclic")
    table = Table(title=f"messages a second of one core's time, best of {REPEATS}; scale {scale:g}")
    table.add_column("options")
    table.add_column("million/s", justify="right")
    table.add_column("wanted", justify="right")
    table.add_column("")
    for name, options in CASES.items():
        best = 0.0
        for _ in range(REPEATS):
            # The core's time, not the clock's: other programs do not count.
            start_s = time.thread_time()
            result = simulate(workload, placement, options, scale=scale)
            best = max(best, result.num_messages / (time.thread_time() - start_s))
        verdict = "reached" if best >= WANTED else "missed"
        table.add_row(name, f"{best / 1e6:.1f}", f"{WANTED / 1e6:.1f}", verdict)
    Console().print(table)


if __name__ == "__main__":
    main()
