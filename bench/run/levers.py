#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the plain `fairlead run` take the levers that pay? Against every fixed combination of them.

In each round a program runs with each fixed combination of placement (the launcher's, or that of
`optimize` wherever it is expected to save anything), collectives (the MPI's, tuned) and relays
(never, always), in an order that rotates; and by the plain command, as a user calls it for the
first time: with an empty cache, and `--first twice`. Compared are the program's own times. Printed
is, for each program and cloud, the default's time as part of that of the combination which is best
over all rounds (median of the rounds, with the interval of the median), which that is, and what the
default took. All ranks share the processors of this machine, so rates are divided by `--slower`.

python bench/run/levers.py     hours for all cells; --short for one cell, one round
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from acting import median_interval
from programs import Program, time_of

from fairlead.files.archive import write_text
from fairlead.lab import Lab, Scenario

SCENARIOS = ("two-racks", "pairwise", "flow-cap", "flat", "two-zones")
PROGRAMS = {
    "cg": Program(("cg", "--size", "112000", "--systems", "2")),
    "stencil": Program(("stencil", "--size", "128", "--steps", "120")),
    "nbody": Program(("nbody", "--bodies", "4096", "--steps", "60"), num_ranks=16),
    "fft": Program(("fft", "--size", "64", "--systems", "12")),
}
MOST_S = 300
"""A run that takes longer hangs."""


class Fixed(NamedTuple):
    """A fixed combination of the levers."""

    is_placed: bool
    is_tuned: bool
    is_relayed: bool

    @property
    def name(self) -> str:
        """As it is printed."""
        taken = [word for word, is_taken in zip(("placed", "tuned", "relayed"), self, strict=True)
                 if is_taken]  # fmt: skip
        return "+".join(taken) or "launcher"

    @property
    def options(self) -> list[str]:
        """As `fairlead run` takes them."""
        placed = (
            ["--method", "optimize", "--risk", "1"] if self.is_placed else ["--method", "launcher"]
        )
        tuned = ["--tune", "auto" if self.is_tuned else "never"]
        return [*placed, *tuned, "--relay", "always" if self.is_relayed else "never"]


COMBINATIONS = [Fixed(*each) for each in itertools.product((False, True), repeat=3)]


@dataclasses.dataclass
class Cell:
    """The rounds of one program in one cloud.

    Attributes:
        fixed_s: Seconds with each fixed combination, a list for each.
        default_s: Seconds by the plain command.
        taken: What that took in each round.
        why_relays: Why it took relays or did not.
        deciding_s: What its decision took.
        budget_s: What that might take.
    """

    scenario: str
    program: str
    fixed_s: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    default_s: list[float] = dataclasses.field(default_factory=list)
    taken: list[str] = dataclasses.field(default_factory=list)
    why_relays: list[str] = dataclasses.field(default_factory=list)
    deciding_s: list[float] = dataclasses.field(default_factory=list)
    budget_s: list[float] = dataclasses.field(default_factory=list)

    @property
    def best(self) -> str:
        """The fixed combination that is fastest in the median."""
        return min(self.fixed_s, key=lambda name: float(np.median(self.fixed_s[name])))

    def facts(self) -> dict[str, Any]:
        """What was measured, and the ratio of the default to the best fixed combination."""
        ratios = np.array(self.default_s) / np.array(self.fixed_s[self.best])
        low, high = median_interval(ratios)
        return dataclasses.asdict(self) | {
            "best": self.best, "rounds": len(ratios),
            "ratio": float(np.median(ratios)), "low_ratio": low, "high_ratio": high,
        }  # fmt: skip


def main() -> None:
    options = parsed()
    cells: list[dict[str, Any]] = []
    for scenario in options.scenario:
        with Lab.up(Scenario.load(scenario, options.hosts).slower(options.slower)) as lab:
            for name in options.program:
                cells.append(measured(lab, scenario, name, options).facts())
                print(row(cells[-1]), flush=True)
    ratios = [cell["ratio"] for cell in cells]
    print(
        f"default / best fixed combination, {len(cells)} cells: {np.median(ratios):.2f} in the "
        f"median, {max(ratios):.2f} in the worst"
    )
    if options.output is not None:
        written = {"kind": "levers", "slower": options.slower, "cells": cells}
        write_text(options.output, json.dumps(written, indent=1) + "\n")


def parsed() -> argparse.Namespace:
    options = parsed_cells(parser_of_cells(__doc__))
    options.combinations = COMBINATIONS[:2] if options.short else COMBINATIONS
    return options


def parser_of_cells(description: str) -> argparse.ArgumentParser:
    """The options of a benchmark of programs in emulated clouds."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="cg on pairwise, 4 hosts, one round")
    parser.add_argument("--scenario", action="append", choices=SCENARIOS, help="repeatable")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="repeatable")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--hosts", type=int, help="default: the scenario's")
    parser.add_argument("--slower", type=float, default=4.0, help="divides the scenario's rates")
    parser.add_argument("--output", type=Path, help="a file for the results, JSON")
    return parser


def parsed_cells(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """What was given, with the defaults for --short."""
    options = parser.parse_args()
    options.scenario = options.scenario or (["pairwise"] if options.short else [*SCENARIOS])
    options.program = options.program or (["cg"] if options.short else [*PROGRAMS])
    if options.short:
        options.hosts, options.rounds = 4, 1
    return options


def measured(lab: Lab, scenario: str, name: str, options: argparse.Namespace) -> Cell:
    """All rounds of a cell; combinations share the traffic, the network and the decisions."""
    program, cell = PROGRAMS[name], Cell(scenario, name)
    if options.hosts is not None:
        program = dataclasses.replace(program, num_ranks=4 * options.hosts)
    with tempfile.TemporaryDirectory() as shared:
        for number in range(options.rounds):
            for fixed in in_turn(options.combinations, number):
                done, _ = run(lab, program, Path(shared), fixed.options)
                cell.fixed_s.setdefault(fixed.name, []).append(done)
            with tempfile.TemporaryDirectory() as empty:
                done, facts = run(lab, program, Path(empty), [])
            cell.default_s.append(done)
            cell.taken.append("+".join(
                name for name, plan in facts["features"].items()
                if plan["is_taken"] and name != "reorder"
            ) or "launcher")  # fmt: skip
            cell.why_relays.append(facts["features"]["relays"]["why"])
            cell.deciding_s.append(facts["deciding_s"])
            cell.budget_s.append(facts["budget_s"])
    return cell


def in_turn(combinations: list[Fixed], number: int) -> Iterator[Fixed]:
    """In an order that begins with another one each time."""
    start = number % len(combinations)
    yield from (*combinations[start:], *combinations[:start])


def run(lab: Lab, program: Program, home: Path, given: list[str]) -> tuple[float, dict[str, Any]]:
    """Seconds that the program prints, and what was decided."""
    command = [
        *(sys.executable, "-m", "fairlead", "run", "--first", "twice", "--json", *given),
        *("-n", str(program.num_ranks), "--hostfile", str(lab.hostfile), "--", *program.argv),
    ]
    homes = {name: str(home / name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    done = subprocess.run(
        lab.command(command), cwd=home, env={**os.environ, **lab.env, **homes},
        capture_output=True, text=True, timeout=MOST_S, check=False,
    )  # fmt: skip
    facts = next(
        (json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")), {}
    )
    return time_of(program, done, home), facts


def row(cell: dict[str, Any]) -> str:
    times_s = {name: float(np.median(each)) for name, each in cell["fixed_s"].items()}
    listed = ", ".join(f"{name} {time_s:.2f}" for name, time_s in times_s.items())
    taken = ", ".join(f"{cell['taken'].count(each)} x {each}" for each in sorted({*cell["taken"]}))
    return (
        f"{cell['scenario']} | {cell['program']} | {cell['ratio']:.2f} [{cell['low_ratio']:.2f}, "
        f"{cell['high_ratio']:.2f}] | {cell['best']} | {taken} | deciding "
        f"{max(cell['deciding_s']):.1f} s of {max(cell['budget_s']):.1f} s at most | seconds: "
        f"default {np.median(cell['default_s']):.2f}, {listed}"
    )


if __name__ == "__main__":
    main()
