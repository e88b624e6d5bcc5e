#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does torch's allreduce become faster on hosts in the order of `fairlead order`?

In each emulated cloud, torch's gloo sums 16 MiB over eight hosts with one rank each: by host name,
in a random order that is drawn for each round, and by `fairlead order`, which measures over TCP
when the cloud is up. The three take turns, and each round counts the best of three allreduces.

Printed are the time by name, and of the others the ratio to it: the median of the rounds with its
95 % interval. Without a Python that has torch with gloo (Debian: python3-torch) nothing is run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from fairlead.decide.paired_median import paired_gain
from fairlead.lab import Lab

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

SCENARIOS = ("two-racks", "pairwise", "flat")
WORKER = Path(__file__).with_name("gloo_ranks.py")
PYTHONS = (sys.executable, "/usr/bin/python3")
HAS_GLOO = "import torch.distributed as d; d.ProcessGroupGloo"
FIRST_PORT = 21000


def main() -> None:
    options = parsed()
    console = Console(width=120)
    python = next((each for each in PYTHONS if has_gloo(each)), None)
    if python is None:
        console.print("no Python here has torch with gloo (Debian: python3-torch): nothing is run")
        return
    rows = Table(box=None, title=f"allreduce of {options.mib} MiB, {options.rounds} rounds")
    for heading in ("cloud", "by name (s)", "random / by name", "by order / by name", "expected"):
        rows.add_column(heading)
    for scenario in options.scenario:
        with Lab.up(scenario) as lab:
            rows.add_row(scenario, *cells(lab, python, options))
    console.print(rows)
    write_tables(options.tables, rows)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="two-racks, 2 rounds of 1 MiB")
    parser.add_argument("--scenario", action="append", help="instead of all; repeatable")
    parser.add_argument("--rounds", type=int, help="of each cloud; default: 20")
    parser.add_argument("--mib", type=int, help="that each rank contributes; default: 16")
    add_tables_option(parser)
    options = parser.parse_args()
    options.scenario = options.scenario or (["two-racks"] if options.short else [*SCENARIOS])
    options.rounds = options.rounds or (2 if options.short else 20)
    options.mib = options.mib or (1 if options.short else 16)
    return options


def has_gloo(python: str) -> bool:
    done = subprocess.run([python, "-c", HAS_GLOO], capture_output=True, check=False)
    return done.returncode == 0


def cells(lab: Lab, python: str, options: argparse.Namespace) -> list[str]:
    found = ordered(lab)
    by_name = sorted(lab.hosts)
    orders = {"by order": found["hosts"], "by name": by_name}
    for number in range(options.rounds):
        orders[f"random {number}"] = random.Random(number).sample(by_name, len(by_name))
    turns = []
    for number in range(options.rounds):
        each = ["by name", f"random {number}", "by order"]
        # Who begins alternates, so that a trend favours none.
        turns += each[number % 3 :] + each[: number % 3]
    seconds: dict[str, list[float]] = {"by name": [], "random": [], "by order": []}
    for line in run_ranks(lab, python, orders, turns, options.mib << 20):
        seconds["random" if "random" in line["order"] else line["order"]].append(line["seconds"])
    names = np.array(seconds["by name"])
    said = "kept" if found["is_kept"] else f"{1 - found['gain']['ratio']:.2f}"
    ratios = [ratio(np.array(seconds[kind]), names) for kind in ("random", "by order")]
    return [f"{np.median(names):.2f}", *ratios, said]


def ratio(times_s: np.ndarray, baseline_s: np.ndarray) -> str:
    gain = paired_gain(times_s, baseline_s)
    return f"{1 - gain.ratio:.2f} [{1 - gain.high_ratio:.2f}, {1 - gain.low_ratio:.2f}]"


def ordered(lab: Lab) -> dict[str, object]:
    words = [sys.executable, "-m", "fairlead", "order", "--hostfile", str(lab.hostfile), "--json"]
    done = lab.run(words, check=True, capture_output=True, text=True)
    print(done.stderr, file=sys.stderr, end="", flush=True)
    return json.loads(done.stdout)


def run_ranks(
    lab: Lab, python: str, orders: dict[str, list[str]], turns: list[str], size_bytes: int
) -> list[dict[str, object]]:
    """What the ranks print, one process on each host for all turns."""
    work = {"orders": orders, "turns": turns, "size_bytes": size_bytes, "repeats": 3}
    running = []
    for host in lab.hosts:
        words = json.dumps({**work, "host": host, "port": FIRST_PORT})
        running.append(
            subprocess.Popen(
                lab.command(["env", "GLOO_SOCKET_IFNAME=eth0", python, str(WORKER), words], host),
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    printed = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise SystemExit("the ranks failed")
    lines = [json.loads(line) for text in printed for line in text.splitlines()]
    # Rank 0 of one order prints before that of the next, but they are different processes.
    place = {name: [index for index, turn in enumerate(turns) if turn == name] for name in turns}
    return sorted(lines, key=lambda line: place[line["order"]].pop(0))


if __name__ == "__main__":
    main()
