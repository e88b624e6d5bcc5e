#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make demo` measures: a solver placed by each method in the emulated cloud `two-racks`.

Runs `fairlead demo`, as the README's first command does, and prints for each method the time that
the solver prints, and how many times as fast it is as on the launcher's placement: geometric means
with their 95 % intervals, of runs in turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

SHORT_SCENARIO = """
name = "four-hosts"
hosts = 4
slots = 4
nic = "1Gbit/s"
order_seed = 7

[racks]
count = 2
uplink = "200Mbit/s"
"""
"""`two-racks` with half of its hosts."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="4 hosts, 8 ranks, one run of each")
    parser.add_argument("--repeats", type=int, help="runs of each method; default: 5")
    add_tables_option(parser)
    options = parser.parse_args()
    repeats = options.repeats or (1 if options.short else 5)
    with tempfile.TemporaryDirectory() as folder:
        more = []
        if options.short:
            scenario = Path(folder) / "four-hosts.toml"
            scenario.write_text(SHORT_SCENARIO)
            more = ["--np", "8", "--scenario", str(scenario)]
        words = ["demo", "--json", "--repeats", str(repeats), *more]
        command = [
            sys.executable,
            "-m",
            "fairlead",
            *words,
            "-o",
            str(Path(folder) / "report.html"),
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    table = Table(box=None, title=f"{found['num_ranks']} ranks, {repeats} runs of each method")
    for heading in ("method", "time (s)", "times as fast", "between hosts (MiB)"):
        table.add_column(heading)
    for name, method in found["methods"].items():
        table.add_row(name, *cells(method))
    Console(width=100).print(table)
    write_tables(options.tables, table)


def cells(method: dict[str, Any]) -> list[str]:
    ratio = method["time_ratio"]
    faster = "1" if ratio is None else f"{1 / ratio['value']:.2f}"
    # One run of each gives no interval.
    if ratio is not None and ratio["low"] is not None:
        faster += f" [{1 / ratio['high']:.2f}, {1 / ratio['low']:.2f}]"
    return [
        f"{method['time_s']['value']:.3g}",
        faster,
        f"{method['predicted']['inter_bytes'] / 2**20:.1f}",
    ]


if __name__ == "__main__":
    main()
