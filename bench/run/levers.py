#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the plain `fairlead run` take the levers that pay? Against every fixed combination of them.

In each round a program runs with each fixed combination of placement (the launcher's, or that of
`optimize` wherever it is expected to save anything), collectives (the MPI's, tuned) and relays
(never, always), in an order that rotates; and by the plain command, as a user calls it for the
first time: with an empty cache, and `--first twice`. Compared are the program's own times. Printed
is, for each program and cloud, the default's time as part of that of the combination which is best
over all rounds (median of the rounds, with the interval of the median), which that is, and what the
default took. The best of several medians is too low by what its rounds differ by chance, the more
so the fewer there are; the default's time as part of the launcher's, which is printed too, is not.
All ranks share the processors of this machine, so rates are divided by `--slower`.

`--drawn N` adds clouds of random rates, racks or pairs; `--seed` repeats them. With `--keep` a
benchmark that was stopped goes on with the rounds that it lacks.

python bench/run/levers.py     hours for all cells; --short for one cell, one round
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from acting import median_interval
from kept_tables import add_tables_option, write_tables
from programs import PROGRAMS as REAL_PROGRAMS
from programs import Program, time_of
from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table

from fairlead.files.archive import write_text
from fairlead.lab import Lab, Scenario

SCENARIOS = ("two-racks", "pairwise", "flow-cap", "flat", "two-zones")
PROGRAMS = {
    "cg": Program(("cg", "--size", "112000", "--systems", "2")),
    "stencil": Program(("stencil", "--size", "128", "--steps", "120")),
    "nbody": Program(("nbody", "--bodies", "4096", "--steps", "60"), num_ranks=16),
    "fft": Program(("fft", "--size", "64", "--systems", "12")),
    # As Debian packages it. Each of its steps computes longer than one of the examples does.
    "lammps": dataclasses.replace(
        REAL_PROGRAMS["lammps"], command=(*REAL_PROGRAMS["lammps"].command, "-var", "steps", "15")
    ),
}
SHORT = Program(("cg", "--size", "28000", "--systems", "1"))
"""In place of `cg`, with a sixteenth of its work."""

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
        """What was measured, and the default's time as part of two others."""
        return dataclasses.asdict(self) | {
            "best": self.best,
            "rounds": len(self.default_s),
            "of_best": self.part_of(self.best),
            "of_launcher": self.part_of(COMBINATIONS[0].name),
        }

    def part_of(self, name: str) -> tuple[float, float, float]:
        """The default's time as part of that of a combination: median and its 95 % interval."""
        ratios = np.array(self.default_s) / np.array(self.fixed_s[name])
        return float(np.median(ratios)), *median_interval(ratios)


def main() -> None:
    options = parsed()
    cells: list[Cell] = []
    rows = table_of_cells()
    for scenario in options.scenario:
        cells += measure_in(Scenario.load(scenario, options.hosts), options, rows)
    for cloud in draw_clouds(options.drawn, options.seed, options.hosts or 8):
        cells += measure_in(cloud, options, rows)
    console = Console(width=200)
    console.print(rows)
    ratios = [cell.part_of(cell.best)[0] for cell in cells]
    print(
        f"default / best fixed combination, {len(cells)} cells: {np.median(ratios):.2f} in the "
        f"median, {max(ratios):.2f} in the worst"
    )
    write_tables(options.tables, rows)
    if options.output is not None:
        facts = [cell.facts() for cell in cells]
        written = {"kind": "levers", "slower": options.slower, "cells": facts}
        write_text(options.output, json.dumps(written, indent=1) + "\n")


def parsed() -> argparse.Namespace:
    parser = parser_of_cells(__doc__)
    parser.add_argument("--drawn", type=int, default=0, help="clouds of random rates, in addition")
    parser.add_argument("--seed", type=int, help="of these; default: another one at each run")
    parser.add_argument("--keep", type=Path, help="a folder for the rounds so far, of one commit")
    add_tables_option(parser)
    options = parsed_cells(parser)
    options.combinations = COMBINATIONS[:2] if options.short else COMBINATIONS
    if options.seed is None:
        options.seed = secrets.randbelow(1_000_000)
    return options


def parser_of_cells(description: str) -> argparse.ArgumentParser:
    """The options of a benchmark of programs in emulated clouds."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument(
        "--short", action="store_true", help="less cg on pairwise, 4 hosts, one round"
    )
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
        options.hosts, options.rounds, options.slower = 4, 1, 1.0
    return options


def draw_clouds(number: int, seed: int, num_hosts: int) -> Iterator[Scenario]:
    """Clouds of random rates, in turn racks with uplinks of their own and pairs that all differ."""
    rng = np.random.default_rng(seed)
    for index in range(number):
        rates = (
            {"pairs": {
                "median": f"{rng.uniform(150, 500):.0f}Mbit/s", "sigma": rng.uniform(0.3, 1.0),
                "asymmetry": rng.uniform(0.0, 1.0), "seed": int(rng.integers(1 << 16)),
            }}
            if index % 2
            else {"racks": racks_of(int(rng.integers(2, num_hosts // 2 + 1)), rng)}
        )  # fmt: skip
        yield Scenario.model_validate({
            "name": f"drawn-{seed}-{index}", "hosts": num_hosts, "nic": "1Gbit/s",
            "order_seed": int(rng.integers(1 << 16)), **rates,
        })  # fmt: skip


def racks_of(count: int, rng: np.random.Generator) -> dict[str, object]:
    uplinks = [f"{each:.0f}Mbit/s" for each in rng.uniform(100, 600, count)]
    return {"count": count, "uplink": uplinks}


def measure_in(cloud: Scenario, options: argparse.Namespace, rows: Table) -> Iterator[Cell]:
    """The cells of one cloud, each printed and added to the table when it is complete."""
    with Lab.up(cloud.slower(options.slower)) as lab:
        for name in options.program:
            cell = measured(lab, cloud.name, name, options)
            print(*row(cell), sep=" | ", file=sys.stderr, flush=True)
            rows.add_row(*row(cell))
            yield cell


def measured(lab: Lab, scenario: str, name: str, options: argparse.Namespace) -> Cell:
    """All rounds of a cell; combinations share the traffic, the network and the decisions."""
    program = SHORT if options.short and name == "cg" else PROGRAMS[name]
    kept = None if options.keep is None else options.keep / f"{scenario}-{name}.json"
    cell = load_rounds(kept) or Cell(scenario, name)
    if options.hosts is not None:
        ranks_of_host = 2 if options.short else 4
        program = dataclasses.replace(program, num_ranks=ranks_of_host * options.hosts)
    with tempfile.TemporaryDirectory() as shared:
        for number in range(len(cell.default_s), options.rounds):
            measure_round(lab, program, cell, in_turn(options.combinations, number), Path(shared))
            if kept is not None:
                kept.parent.mkdir(parents=True, exist_ok=True)
                write_text(kept, json.dumps(dataclasses.asdict(cell)) + "\n")
    return cell


def load_rounds(kept: Path | None) -> Cell | None:
    """The rounds of a benchmark that was stopped."""
    if kept is None or not kept.exists():
        return None
    return TypeAdapter(Cell).validate_json(kept.read_text(encoding="utf-8"))


def measure_round(
    lab: Lab, program: Program, cell: Cell, combinations: Iterable[Fixed], shared: Path
) -> None:
    """One run with each combination, and one by the plain command."""
    fixed_s = {fixed.name: run(lab, program, shared, fixed.options)[0] for fixed in combinations}
    with tempfile.TemporaryDirectory() as empty:
        done_s, facts = run(lab, program, Path(empty), [])
    for name, seconds in fixed_s.items():
        cell.fixed_s.setdefault(name, []).append(seconds)
    cell.default_s.append(done_s)
    cell.taken.append("+".join(
        name for name, plan in facts["features"].items()
        if plan["is_taken"] and name != "reorder"
    ) or "launcher")  # fmt: skip
    cell.why_relays.append(facts["features"]["relays"]["why"])
    cell.deciding_s.append(facts["deciding_s"])
    cell.budget_s.append(facts["budget_s"])


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


def table_of_cells() -> Table:
    """Columns of `row`."""
    rows = Table(box=None)
    for heading in (
        *("cloud", "program", "rounds", "default / best combination", "best", "default / launcher"),
        *("default took", "deciding, most", "budget", "launcher (s)"),
    ):
        rows.add_column(heading)
    return rows


def row(cell: Cell) -> list[str]:
    taken = (f"{cell.taken.count(each)} x {each}" for each in sorted({*cell.taken}))
    return [
        cell.scenario,
        cell.program,
        f"{len(cell.default_s)}",
        part(cell.part_of(cell.best)),
        cell.best,
        part(cell.part_of(COMBINATIONS[0].name)),
        ", ".join(taken),
        f"{max(cell.deciding_s):.1f} s",
        f"{max(cell.budget_s):.1f} s",
        f"{np.median(cell.fixed_s[COMBINATIONS[0].name]):.2f}",
    ]


def part(ratio: tuple[float, float, float]) -> str:
    """A median with its interval."""
    return "{:.2f} [{:.2f}, {:.2f}]".format(*ratio)


if __name__ == "__main__":
    main()
