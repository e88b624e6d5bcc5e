#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the file of a traced run takes, at rank 0 and in Python, against the number of ranks.

The library's own writer runs over an MPI in memory, so nothing of the network is in it; times are
those of the processor. The ranks
sent what a Fourier transform in pencils sends: each to some 2 sqrt(N) others.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fairlead.flows.compare.statistics import mean_interval
from fairlead.measure.trace_file import read_trace

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INTERCEPT = ROOT / "mpi" / "intercept"
UNITS = (
    *(f"trace/{name}.cpp" for name in ("report", "header", "record", "counters")),
    "table/call_names.cpp",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="64 ranks, 2 repeats")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1024, 4096])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mpicxx", default="mpicxx.openmpi")
    options = parser.parse_args()
    ranks = [64] if options.short else options.ranks
    repeats = 2 if options.short else options.repeats
    columns = ("ranks", "pairs", "file", "a rank's part", "rank 0 writes", "Python reads")
    table = Table(title=f"seconds, mean of {repeats} runs [95 % interval]")
    for column in columns:
        table.add_column(column, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        program = built(options.mpicxx, Path(folder))
        for num_ranks in ranks:
            table.add_row(str(num_ranks), *row(program, num_ranks, repeats, Path(folder) / "trace"))
    Console(width=120).print(table)


def built(mpicxx: str, folder: Path) -> Path:
    """The program, with the library's own files."""
    program, unit = folder / "file_time", folder / "unit.cpp"
    # One unit: most of the time would go to reading the same headers in each.
    parts = (HERE / "file_time.cpp", *(INTERCEPT / each for each in UNITS))
    unit.write_text("".join(f'#include "{part}"\n' for part in parts))
    flags = ["-std=c++20", "-O2", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{INTERCEPT}"]
    subprocess.run([mpicxx, *flags, str(unit), "-o", str(program)], check=True)
    return program


def row(program: Path, num_ranks: int, repeats: int, file: Path) -> list[str]:
    """What is printed of one number of ranks."""
    parts_s, writes_s, reads_s = [], [], []
    for _ in range(repeats):
        done = subprocess.run(
            [program, str(num_ranks), str(file)], check=True, capture_output=True, text=True
        )
        part_s, write_s = map(float, done.stdout.split())
        begin_s = time.process_time()
        traffic = read_trace(file)
        reads_s.append(time.process_time() - begin_s)
        parts_s.append(part_s)
        writes_s.append(write_s)
    num_pairs = traffic.messages.nnz + traffic.exchange_messages.nnz
    return [
        f"{num_pairs:,}",
        f"{file.stat().st_size / 2**20:.1f} MiB",
        *(interval(values) for values in (parts_s, writes_s, reads_s)),
    ]


def interval(values: list[float]) -> str:
    found = mean_interval(values)
    return f"{found.value:.3g} [{found.low:.3g}, {found.high:.3g}]"


if __name__ == "__main__":
    main()
