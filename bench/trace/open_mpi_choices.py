#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which algorithms Open MPI chooses for collectives, by the messages that it counts itself.

One call of each operation, size and number of ranks runs under Open MPI's monitoring component. Its
messages are compared with those of all algorithms that Fairlead knows; the overlap is the part of
the bytes that both send between the same ranks. Printed are the choices, and where the best overlap
is below 0.9; `--write` stores the choices where Fairlead reads them.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from monitoring import counting, internal_bytes
from rich.console import Console
from rich.table import Table

from fairlead.act.launch import detect
from fairlead.model.collective_messages.algorithms import Call
from fairlead.model.collective_messages.choices import OPEN_MPI_FILE, algorithms_for
from fairlead.model.collective_messages.steps import partners

NUM_RANKS = (4, 8, 16, 32, 64)
SIZES = (64, 512, 2048, 8192, 32768, 131072, 524288, 2097152)
OPERATIONS = (
    *("allgather", "allgatherv", "allreduce", "bcast", "gather", "reduce", "reduce_scatter"),
    *("reduce_scatter_block", "scan", "scatter"),
)
OF_ALL_RANKS = frozenset({"allgather", "allgatherv", "gather", "scatter"})
MOST_BYTES = 8 << 20
"""Limit on all ranks' blocks together: sixty-four ranks share the memory of one machine."""

CLEAR_OVERLAP = 0.9
NEAR_TIE = 0.05
"""If the overlaps of two algorithms differ by less, the one of the shorter messages is kept."""

Matrix = npt.NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="4 ranks, 2 sizes")
    parser.add_argument("--write", action="store_true", help="store the choices")
    parser.add_argument("--mpirun", default="mpirun.openmpi")
    parser.add_argument("--mpicc", default="mpicc.openmpi")
    options = parser.parse_args()
    table = Table(box=None)
    for heading in ("operation", "ranks", "from bytes: algorithm", "overlap, the least"):
        table.add_column(heading)
    stored: list[tuple[str, int, int, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(__file__).with_name("one_collective.c"), Path(folder) / "one"
        subprocess.run([options.mpicc, "-O1", source, "-o", program], check=True)
        runs = Runs(options.mpirun, program, Path(folder))
        for operation in OPERATIONS:
            for num_ranks in NUM_RANKS[:1] if options.short else NUM_RANKS:
                sizes = SIZES[2:4] if options.short else SIZES
                choices, least = chosen(runs, operation, num_ranks, sizes)
                stored += [(operation, num_ranks, *choice) for choice in choices]
                cells = ", ".join(f"{size}: {name}" for size, name in choices)
                shown = f"{least:.2f}" if least < CLEAR_OVERLAP else ""
                table.add_row(operation, str(num_ranks), cells, shown)
    Console(width=140).print(table)
    if options.write:
        with OPEN_MPI_FILE.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(("operation", "num_ranks", "least_bytes", "algorithm"))
            writer.writerows(stored)


def chosen(
    runs: Runs, operation: str, num_ranks: int, sizes: Sequence[int]
) -> tuple[list[tuple[int, str]], float]:
    """From how many bytes on which algorithm is chosen, and the least overlap."""
    before = runs.counted_without(num_ranks, sizes[0])
    choices: list[tuple[int, str]] = []
    overlaps = []
    for size in sizes:
        if not is_of_use(operation, num_ranks, size):
            continue
        counted = runs.counted(operation, num_ranks, size) - before
        overlap_of = recognised(operation, num_ranks, size, counted)
        name = max(overlap_of, key=overlap_of.__getitem__)
        if choices and overlap_of[choices[-1][1]] > overlap_of[name] - NEAR_TIE:
            name = choices[-1][1]
        overlaps.append(overlap_of[name])
        if not choices or choices[-1][1] != name:
            choices.append((size if choices else 0, name))
    return choices, min(overlaps)


def is_of_use(operation: str, num_ranks: int, size: int) -> bool:
    """Whether blocks fit into the memory, and each rank has a number of what is reduced."""
    if operation in OF_ALL_RANKS:
        return size * num_ranks <= MOST_BYTES
    return not operation.startswith("reduce_scatter") or size >= 8 * num_ranks


class Runs:
    """Runs of the program with one call."""

    def __init__(self, mpirun: str, program: Path, folder: Path) -> None:
        self._launcher, self._program, self._folder = detect(mpirun), program, folder
        self._without: dict[int, Matrix] = {}

    def counted_without(self, num_ranks: int, size: int) -> Matrix:
        """The same without the operation, whichever it is: counted once."""
        if num_ranks not in self._without:
            self._without[num_ranks] = self.counted("nothing", num_ranks, size)
        return self._without[num_ranks]

    def counted(self, operation: str, num_ranks: int, size: int) -> Matrix:
        """Bytes from rank to rank inside collectives."""
        for file in self._folder.glob("*.prof"):
            file.unlink()
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        env = {**os.environ, **as_root, **counting(self._folder)}
        arguments = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(num_ranks)]
        command = [str(self._launcher.path), *arguments, str(self._program), operation, str(size)]
        subprocess.run(command, check=True, env=env)
        return internal_bytes(self._folder, num_ranks)


def recognised(operation: str, num_ranks: int, size: int, counted: Matrix) -> dict[str, float]:
    """The overlap of the counts with each algorithm."""
    overlap_of = {}
    for name, algorithm in algorithms_for(operation).items():
        expected = np.zeros((num_ranks, num_ranks))
        for step, sent_bytes, _ in algorithm(Call(num_ranks, size)):
            np.add.at(expected, partners(step, num_ranks), sent_bytes)
        common = np.minimum(expected, counted).sum()
        overlap_of[name] = float(common / max(expected.sum(), counted.sum()))
    return overlap_of


if __name__ == "__main__":
    main()
