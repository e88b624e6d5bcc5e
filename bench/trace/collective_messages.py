#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What codes send inside collectives, as Open MPI counts it, compared with what Fairlead expects.

Each code runs once under the tracer on this machine. Printed are the bytes inside collectives as a
part of all, what is expected as a multiple of what was counted, and the overlap: the part of the
counted bytes that is expected between the same two ranks.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from monitoring import counting, internal_bytes
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cloudmap"))
from packaged_codes import packaged_codes
from programs import PROGRAMS, Program, prepared

from fairlead.act.launch import LaunchSpec, detect
from fairlead.measure.trace import trace
from fairlead.model.traffic import Traffic

SHORT = ("cg",)

Matrix = npt.NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="cg only")
    parser.add_argument("--mpirun", default=None, help="an Open MPI's")
    options = parser.parse_args()
    table = Table(box=None)
    for heading in ("code", "ranks", "inside collectives", "expected / counted", "overlap"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        programs = {name: PROGRAMS[name] for name in (SHORT if options.short else PROGRAMS)}
        if not options.short:
            programs |= packaged_codes(Path(folder))
        for name, program in programs.items():
            traffic, counted = traced(program, options.mpirun, Path(folder) / "run")
            table.add_row(name, str(program.num_ranks), *cells(traffic, counted))
    Console(width=120).print(table)


def traced(program: Program, mpirun: str | None, folder: Path) -> tuple[Traffic, Matrix]:
    """The traffic, and the bytes inside collectives that the MPI counted."""
    arguments = ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
    os.chdir(prepared(program, folder))
    spec = LaunchSpec(
        program.argv, program.num_ranks, env=counting(folder), launcher_args=arguments
    )
    with Path(os.devnull).open("w") as nothing:
        traffic = trace(detect(mpirun), spec, stdout=nothing.fileno()).traffic
    return traffic, internal_bytes(folder, program.num_ranks)


def cells(traffic: Traffic, counted: Matrix) -> tuple[str, ...]:
    point_to_point = traffic.bytes.toarray()
    expected = traffic.carried.bytes.toarray() - point_to_point
    share = counted.sum() / (counted.sum() + point_to_point.sum())
    overlap = np.minimum(counted, expected).sum() / counted.sum()
    return f"{share:.1%}", f"{expected.sum() / counted.sum():.2f}", f"{overlap:.0%}"


if __name__ == "__main__":
    main()
