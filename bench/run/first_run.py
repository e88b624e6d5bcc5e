#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does the first run of a program gain? Plain `fairlead run`, empty cache, against `mpirun`.

In each round a program runs by the launcher alone, as the first run of the plain command, as that
with `--relay never`, and as that with `--tune never`, in an order that rotates. Compared are the
program's own times. Printed is for each program and cloud the time as part of the launcher's
(median of the rounds, with the interval of the median), in how many rounds the first run had relays
and followed schedules, what became of collectives in each, how long the whole first command took,
and how many processes of the machine were busy or ready in the minute before each run.
`--program nbody-long` is dominated by broadcasts of 48 KiB.

python bench/run/first_run.py     some minutes for each cell; --short for one cell, one round
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from acting import median_interval
from levers import MOST_S, PROGRAMS, SHORT, parsed_cells, parser_of_cells
from programs import Program, time_of

from fairlead.act.launch import detect
from fairlead.files.archive import write_text
from fairlead.lab import Lab, Scenario

PROGRAMS["nbody-long"] = Program(("nbody", "--bodies", "2048", "--steps", "150"), num_ranks=16)
OPTIONS = {
    "launcher": [],
    "first": [],
    "first without relays": ["--relay", "never"],
    "first without schedules": ["--tune", "never"],
}
WAYS = tuple(OPTIONS)


@dataclasses.dataclass
class Cell:
    """The rounds of one program in one cloud; a list of seconds for each way.

    Attributes:
        program_s: What the program says that it took.
        command_s: What the command took.
        why_relays: Why the first run had relays or had none, of each round.
        why_collectives: The same of collectives.
        collectives: What became of them in the plain first run, of each round.
        busy: Load average of one minute before each run.
    """

    scenario: str
    program: str
    program_s: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    command_s: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    why_relays: list[str] = dataclasses.field(default_factory=list)
    why_collectives: list[str] = dataclasses.field(default_factory=list)
    collectives: list[str] = dataclasses.field(default_factory=list)
    busy: list[float] = dataclasses.field(default_factory=list)

    @property
    def num_scheduled(self) -> int:
        """Rounds in which calls of the first run followed schedules."""
        return sum(line.startswith("by schedules") for line in self.collectives)

    @property
    def num_relayed(self) -> int:
        """Rounds in which the first run had relays."""
        return sum(why.startswith("taken") for why in self.why_relays)

    def facts(self) -> dict[str, Any]:
        """What was measured, and the times as parts of the launcher's."""
        launcher_s = np.array(self.program_s["launcher"])
        ratios = {way: np.array(self.program_s[way]) / launcher_s for way in WAYS[1:]}
        return dataclasses.asdict(self) | {
            "rounds": len(launcher_s),
            "num_relayed": self.num_relayed,
            "num_scheduled": self.num_scheduled,
            "ratios": {
                way: [float(np.median(each)), *median_interval(each)]
                for way, each in ratios.items()
            },
        }


def main() -> None:
    options = parsed()
    cells: list[dict[str, Any]] = []
    for scenario in options.scenario:
        cloud = Scenario.load(scenario, options.hosts).slower(options.slower)
        if options.slots is not None:
            cloud = cloud.model_copy(update={"slots": options.slots})
        with Lab.up(cloud) as lab:
            for name in options.program:
                cells.append(measured(lab, scenario, name, options).facts())
                print(row(cells[-1]), flush=True)
                for subject in ("why_relays", "why_collectives", "collectives"):
                    lines = [f"  {subject}: {line}" for line in cells[-1][subject]]
                    print(*lines, sep="\n", flush=True)
    if options.output is not None:
        written = {"kind": "first-run", "slower": options.slower, "cells": cells}
        write_text(options.output, json.dumps(written, indent=1) + "\n")


def parsed() -> argparse.Namespace:
    parser = parser_of_cells(__doc__)
    parser.add_argument("--slots", type=int, help="ranks of each host; default: the scenario's")
    return parsed_cells(parser)


def measured(lab: Lab, scenario: str, name: str, options: argparse.Namespace) -> Cell:
    cell = Cell(scenario, name)
    program = SHORT if options.short and name == "cg" else PROGRAMS[name]
    if options.hosts is not None or options.slots is not None:
        num_ranks = (options.slots or (2 if options.short else 4)) * len(lab.hosts)
        program = dataclasses.replace(program, num_ranks=num_ranks)
    for number in range(options.rounds):
        for way in in_turn(number):
            cell.busy.append(os.getloadavg()[0])
            with tempfile.TemporaryDirectory() as empty:
                program_s, command_s, lines = run(lab, program, Path(empty), way)
            cell.program_s.setdefault(way, []).append(program_s)
            cell.command_s.setdefault(way, []).append(command_s)
            if way == "first":
                taken = "((?:not )?taken in this run: .*)"
                cell.why_relays += re.findall(f"relays: {taken}", lines)
                cell.why_collectives += re.findall(f"collectives: {taken}", lines)
                cell.collectives += re.findall(
                    r"^fairlead: collectives: ((?:by schedules|by the MPI|all by).*)", lines, re.M
                )
    return cell


def in_turn(number: int) -> Iterator[str]:
    """In an order that begins with another one each time."""
    start = number % len(WAYS)
    yield from (*WAYS[start:], *WAYS[:start])


def run(lab: Lab, program: Program, home: Path, way: str) -> tuple[float, float, str]:
    """Seconds that the program prints, those of the command, and its lines."""
    given = OPTIONS[way]
    job = ["-n", str(program.num_ranks), "--hostfile", str(lab.hostfile)]
    start = (
        [str(detect().path), *job]
        if way == "launcher"
        else [sys.executable, "-m", "fairlead", "run", *given, *job, "--"]
    )
    homes = {name: str(home / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    began_s = time.monotonic()
    done = subprocess.run(
        lab.command([*start, *program.argv]), cwd=home, env={**os.environ, **lab.env, **homes},
        capture_output=True, text=True, timeout=MOST_S, check=False,
    )  # fmt: skip
    command_s = time.monotonic() - began_s
    return time_of(program, done, home), command_s, done.stderr


def row(cell: dict[str, Any]) -> str:
    parts = ", ".join(
        f"{way} {ratio:.2f} [{low:.2f}, {high:.2f}]"
        for way, (ratio, low, high) in cell["ratios"].items()
    )
    seconds = ", ".join(f"{way} {np.median(each):.1f}" for way, each in cell["command_s"].items())
    return (
        f"{cell['scenario']} | {cell['program']} | {cell['rounds']} rounds | of the launcher's "
        f"time: {parts} | relays in {cell['num_relayed']}, schedules in "
        f"{cell['num_scheduled']} | busy {min(cell['busy']):.0f} to {max(cell['busy']):.0f} | "
        f"seconds: launcher {np.median(cell['program_s']['launcher']):.2f}, of commands: {seconds}"
    )


if __name__ == "__main__":
    main()
