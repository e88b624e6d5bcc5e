#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does torch become faster on hosts in the order of `fairlead order`?

In each emulated cloud, torch's gloo runs on eight hosts with one rank each: an allreduce, an
all-to-all and a training step with DistributedDataParallel. First each of 20 random orders is
timed once, which chooses the best of them. Then four orders take turns: by host name, a random one
that is drawn for each round, the best of the 20, and by `fairlead order`, which measures over TCP
when the cloud is up. Only these turns count.

Printed are the time by name, and of the others the ratio to it: the median of the rounds with its
95 % interval. A Python that has torch with gloo is needed (Debian: python3-torch).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from fairlead.decide.paired_median import paired_gain
from fairlead.lab import Lab

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kept_tables import add_tables_option, write_tables

CLOUDS = {
    "two-racks": "two-racks",
    "three-racks": Path(__file__).with_name("three-racks.toml"),
    "pairwise": "pairwise",
    "flat": "flat",
}
# The pattern by which `fairlead order` is asked for each work.
PATTERNS = {"allreduce": "gloo", "all-to-all": "all-to-all", "ddp-step": "gloo"}
NUM_TRIED = 20
COMPARED = ("random", "best of random", "by order")
WORKER = Path(__file__).with_name("gloo_ranks.py")
PYTHONS = (sys.executable, "/usr/bin/python3")
HAS_GLOO = "import torch.distributed as d; d.ProcessGroupGloo"
FIRST_PORT = 21000


def main() -> None:
    options = parsed()
    python = next((each for each in PYTHONS if has_gloo(each)), None)
    if python is None:
        sys.exit("gloo.py: no Python here has torch with gloo (Debian: python3-torch)")
    rows = Table(box=None, title=f"{options.mib} MiB, {options.rounds} rounds")
    headings = ("work, cloud", "by name (s)", *(f"{kind} / by name" for kind in COMPARED))
    for heading in (*headings, "expected"):
        rows.add_column(heading)
    for cloud in options.cloud:
        with Lab.up(CLOUDS[cloud], hosts=options.hosts) as lab:
            for work in options.work:
                rows.add_row(f"{work}, {cloud}", *cells(lab, python, work, options))
    Console(width=120).print(rows)
    write_tables(options.tables, rows)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a step on 3 hosts, a round of 1 MiB")
    parser.add_argument("--cloud", action="append", choices=CLOUDS, help="instead of all")
    parser.add_argument("--work", action="append", choices=PATTERNS, help="instead of all")
    parser.add_argument("--rounds", type=int, help="of each cloud and work; default: 12")
    parser.add_argument("--mib", type=int, help="that each rank contributes; default: 4")
    add_tables_option(parser)
    options = parser.parse_args()
    options.cloud = options.cloud or (["two-racks"] if options.short else [*CLOUDS])
    options.work = options.work or (["ddp-step"] if options.short else [*PATTERNS])
    options.rounds = options.rounds or (1 if options.short else 12)
    options.mib = options.mib or (1 if options.short else 4)
    options.tried = 2 if options.short else NUM_TRIED
    options.hosts = 3 if options.short else None
    return options


def has_gloo(python: str) -> bool:
    done = subprocess.run([python, "-c", HAS_GLOO], capture_output=True, check=False)
    return done.returncode == 0


def cells(lab: Lab, python: str, work: str, options: argparse.Namespace) -> list[str]:
    ordering = order_hosts(lab, PATTERNS[work])
    by_name = sorted(lab.hosts)
    draw = random.Random(f"{lab.name} {work}")
    tried = [draw.sample(by_name, len(by_name)) for _ in range(options.tried)]
    with started_ranks(lab, python, work, options.mib) as ranks:
        best = tried[int(np.argmin(times_s(ranks, tried)))]
        turns: list[tuple[str, list[str]]] = []
        for number in range(options.rounds):
            drawn = draw.sample(by_name, len(by_name))
            orders = (by_name, drawn, best, ordering["hosts"])
            each = [*zip(("by name", *COMPARED), orders, strict=True)]
            # Who begins alternates, so that a trend favours none.
            turns += each[number % 4 :] + each[: number % 4]
        turns_s = times_s(ranks, [order for _, order in turns])
    seconds: dict[str, list[float]] = {kind: [] for kind in ("by name", *COMPARED)}
    for (kind, _), time_s in zip(turns, turns_s, strict=True):
        seconds[kind].append(time_s)
    names_s = np.array(seconds["by name"])
    ratios = [ratio(np.array(seconds[kind]), names_s) for kind in COMPARED]
    expected = "kept" if ordering["is_kept"] else f"{1 - ordering['gain']['ratio']:.2f}"
    return [f"{np.median(names_s):.2f}", *ratios, expected]


def ratio(times_s: np.ndarray, baseline_s: np.ndarray) -> str:
    gain = paired_gain(times_s, baseline_s)
    return f"{1 - gain.ratio:.2f} [{1 - gain.high_ratio:.2f}, {1 - gain.low_ratio:.2f}]"


def order_hosts(lab: Lab, pattern: str) -> dict[str, Any]:
    words = [sys.executable, "-m", "fairlead", "order", "--hostfile", str(lab.hostfile), "--json"]
    words += ["--pattern", pattern]
    done = lab.run(words, check=True, capture_output=True, text=True)
    print(done.stderr, file=sys.stderr, end="", flush=True)
    return json.loads(done.stdout)


@contextlib.contextmanager
def started_ranks(
    lab: Lab, python: str, work: str, mib: int
) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """One process on each host for all orders, as importing torch takes seconds."""
    request = {"work": work, "size_bytes": mib << 20, "port": FIRST_PORT}
    ranks = {}
    for host in lab.hosts:
        words = json.dumps({**request, "host": host})
        command = ["env", "GLOO_SOCKET_IFNAME=eth0", python, str(WORKER), words]
        ranks[host] = subprocess.Popen(
            lab.command(command, host), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    yield ranks
    for process in ranks.values():
        process.communicate()
    if any(process.returncode for process in ranks.values()):
        raise SystemExit("the ranks failed")


def times_s(ranks: Mapping[str, subprocess.Popen[str]], orders: Sequence[list[str]]) -> list[float]:
    """Time of the work in each order, in seconds."""
    for process in ranks.values():
        print(json.dumps(orders), file=process.stdin, flush=True)
    # The first host of an order has rank 0.
    lines = [ranks[order[0]].stdout.readline() for order in orders]
    if not all(lines):
        raise SystemExit("the ranks failed")
    return [float(line) for line in lines]


if __name__ == "__main__":
    main()
