#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CloudMap's figures, tables and headline numbers, rerun in simulation: `--item figure-6`.

Prints a table for people; `--figures FILE` writes the same as JSON.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import gains
import npb_programs
import over_a_day
import overhead
import placements
import two_days
from rich.console import Console
from rich.table import Table

Figures = list[dict[str, object]]


class Asked(NamedTuple):
    """What the command line asks for.

    Attributes:
        rounds: Runs of each mechanism; None: as many as the paper has.
        programs: Programs of NPB; empty: all.
        once: Those of them that have one round, as a replay takes minutes.
    """

    short: bool
    rounds: int | None
    programs: tuple[str, ...]
    once: tuple[str, ...] = ()


Rerun = Callable[[Asked], Figures]
SHORT_PROGRAMS = {64: ("cg",), 256: ("ep",)}
SP_ALONE, CG_ALONE = ("sp",), ("cg",)
SAME_AS_OTHERS = ("figure-7", "figure-8", "figure-9", "number-11x", "number-35", "number-31")
"""Figures 7 to 9 are figure 6 with other inputs, and the headline numbers those of 6, 7 and 11."""


def gain(name: str, programs: tuple[str, ...] = npb_programs.PROGRAMS) -> Rerun:
    """One of the figures of gains, of some programs."""

    def rerun(asked: Asked) -> Figures:
        setting = gains.SETTINGS[name]
        if asked.short:
            setting = dataclasses.replace(setting, classes=setting.classes[:1])
        is_all = programs == npb_programs.PROGRAMS
        taken = SHORT_PROGRAMS[setting.num_ranks] if asked.short and is_all else programs
        rounds = asked.rounds or (1 if asked.short else gains.ROUNDS)
        cells = gains.measure(setting, rounds, asked.programs or taken, once=asked.once)
        return gains.figures(setting, cells)

    return rerun


def once(rerun: Callable[[bool], Figures]) -> Rerun:
    """One that has no rounds."""
    return lambda asked: rerun(asked.short)


def in_rounds(rerun: Callable[[bool, int | None], Figures]) -> Rerun:
    """One of a single program, in rounds."""
    return lambda asked: rerun(asked.short, asked.rounds)


ITEMS: dict[str, Rerun] = {
    "figure-1": once(over_a_day.figure_1),
    "figure-2": once(over_a_day.figure_2),
    "figure-3": once(over_a_day.figure_3),
    "figure-4": once(placements.figure_4),
    **{name: gain(name) for name in gains.SETTINGS},
    "figure-12": in_rounds(two_days.figure_12),
    "figure-14": in_rounds(gains.figure_14),
    "figure-15": once(placements.figure_15),
    "table-1": once(placements.table_1),
    "table-2": once(overhead.table_2),
    "number-11x": gain("figure-11", CG_ALONE),
    "number-35": gain("figure-6", SP_ALONE),
    "number-31": gain("figure-7", SP_ALONE),
    "both-baselines": once(placements.both_baselines),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--item", choices=ITEMS, action="append", help="repeatable; default: all")
    parser.add_argument("--short", action="store_true", help="a few items, programs and rounds")
    parser.add_argument("--rounds", type=int, help="of each mechanism; default: 10, figure 12: 200")
    parser.add_argument(
        "--program",
        action="append",
        choices=npb_programs.PROGRAMS,
        help="instead of all, in figures 6 to 11 and 13; repeatable",
    )
    parser.add_argument(
        "--once",
        action="append",
        choices=npb_programs.PROGRAMS,
        help="one round of this program, whatever --rounds says; repeatable",
    )
    parser.add_argument("--figures", type=Path, help="write the numbers to this JSON file")
    options = parser.parse_args()
    asked = Asked(
        options.short, options.rounds, tuple(options.program or ()), tuple(options.once or ())
    )
    found: Figures = []
    short = [item for item in ITEMS if item not in SAME_AS_OTHERS]
    for item in options.item or (short if options.short else ITEMS):
        rows = ITEMS[item](asked)
        Console(width=130).print(table(item, rows))
        found += rows
    if options.figures is not None:
        options.figures.write_text(json.dumps(found, indent=1) + "\n")


def table(item: str, rows: Figures) -> Table:
    """A row for each number, the paper's next to it."""
    result = Table(title=f"CloudMap, {item}")
    for column in ("what", "paper", "here", "95 % interval", "runs", "unit"):
        is_text = column in {"what", "unit", "paper"}
        result.add_column(column, justify="left" if is_text else "right")
    for row in rows:
        interval = "" if row["low"] is None else f"{row['low']:.4g} to {row['high']:.4g}"
        result.add_row(
            str(row["name"]),
            "" if row["paper"] is None else str(row["paper"]),
            f"{row['value']:.4g}",
            interval,
            str(row["samples"]),
            str(row["unit"]),
        )
    return result


if __name__ == "__main__":
    main()
