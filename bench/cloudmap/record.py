#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what the NAS Parallel Benchmarks send, for `figures.py`, with SimGrid's SMPI.

`record.py NPB3.3-MPI` takes the folder of that name of the benchmarks' version 3.3.1 and writes
`recorded/NAME.ti.tar.xz` with the time-independent trace of each rank, without computing. It needs
smpicc, smpiff and smpirun (Debian: libsimgrid-dev, gfortran). Nothing of the sources is kept.
`--only stencil.256.256` records an example of this project instead, and needs no sources.
"""

from __future__ import annotations

import argparse
import io
import math
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from npb_programs import CLASSES, FACTS, PROGRAMS, SIZES

RECORDED = Path(__file__).parent / "recorded"
STENCIL = "stencil"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / STENCIL / "main.cpp"
MAKE_DEF = """MPIF77 = smpiff
FLINK = smpiff
FFLAGS = -O2 -std=legacy -fallow-invalid-boz -fallow-argument-mismatch -w
MPICC = smpicc
CLINK = smpicc
CFLAGS = -O2 -w
CC = cc
BINDIR = ../bin
RAND = randi8
"""
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>
<platform version='4.1'><cluster id='c' prefix='h' suffix='' radical='0-{last}' speed='1Gf'
 bw='1GBps' lat='10us'/></platform>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, nargs="?", help="the folder NPB3.3-MPI")
    parser.add_argument("--only", action="append", help='such as "cg.C.256"; repeatable')
    options = parser.parse_args()
    for name in options.only or names():
        if options.sources is None and not name.startswith(STENCIL):
            parser.error(f"{name} needs the folder NPB3.3-MPI")
        with tempfile.TemporaryDirectory() as folder:
            save(record(name, options.sources, Path(folder)), RECORDED / f"{name}.ti.tar.xz")
        print(name, flush=True)


def names() -> list[str]:
    """All that is recorded, smaller ones first."""
    return [
        f"{program}.{npb_class}.{num_ranks}"
        for num_ranks in SIZES
        for npb_class in CLASSES
        for program in PROGRAMS
    ]


def record(name: str, sources: Path | None, folder: Path) -> list[list[str]]:
    """Lines of the trace of each rank."""
    program, npb_class, ranks = name.split(".")
    num_ranks = int(ranks)
    if sources is None:
        command = stencil_command(int(npb_class), num_ranks, folder)
    else:
        class_of = "S" if program == "ep" else npb_class
        command = [str(build(program, class_of, ranks, sources, folder / "npb"))]
    (folder / "platform.xml").write_text(PLATFORM.format(last=num_ranks - 1))
    (folder / "hosts.txt").write_text("".join(f"h{rank}\n" for rank in range(num_ranks)))
    subprocess.run(
        [
            *("smpirun", "-np", ranks, "-platform", "platform.xml", "-hostfile", "hosts.txt"),
            *("-trace-ti", "--cfg=tracing/filename:trace.txt"),
            *("--cfg=smpi/simulate-computation:no", "--cfg=smpi/host-speed:1Gf"),
            *("--cfg=tracing/smpi/computing:no", "--log=root.t:error", *command),
        ],
        cwd=folder, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    files = (folder / "trace.txt").read_text().split()
    lines = [timed_part((folder / file).read_text().splitlines()) for file in files]
    if sources is None:
        lines = [
            with_sizes(of_rank, int(npb_class) ** 2 // side_of(num_ranks)) for of_rank in lines
        ]
    return sorted(lines, key=lambda of_rank: int(of_rank[0].split()[0]))


def stencil_command(size: int, num_ranks: int, folder: Path) -> list[str]:
    """One step of `examples/stencil` on a plane of ranks, each with a column of the cube."""
    program, side = str(folder / STENCIL), side_of(num_ranks)
    subprocess.run(["smpicxx", "-std=c++20", "-O2", str(EXAMPLE), "-o", program], check=True)
    return [program, "--size", str(size), "--steps", "1", "--dims", f"{side},{side},1"]


def side_of(num_ranks: int) -> int:
    return math.isqrt(num_ranks)


def with_sizes(lines: list[str], face: int) -> list[str]:
    """Faces as so many doubles: SimGrid records a derived type without its size.

    Messages to MPI_PROC_NULL, above and below the plane, are left out, and so are the reductions
    after the last step.
    """
    kept = [
        line.replace(" 1 -1", f" {face} 0")
        for line in lines
        if " -333 " not in line and " allreduce " not in line
    ]
    return [line.replace("waitall 12", "waitall 8") for line in kept]


def build(program: str, npb_class: str, ranks: str, sources: Path, folder: Path) -> Path:
    """The edited program for SMPI, in a copy of the sources."""
    shutil.copytree(sources, folder)
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "config" / "make.def").write_text(MAKE_DEF)
    for file, found, replaced in FACTS[program].edits:
        path = folder / program.upper() / file
        text = path.read_text()
        if found not in text:
            raise SystemExit(f"{path}: expected {found!r}, as version 3.3.1 has it")
        path.write_text(text.replace(found, replaced, 1))
    subprocess.run(
        ["make", program, f"CLASS={npb_class}", f"NPROCS={ranks}"],
        cwd=folder, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return folder / "bin" / f"{program}.{npb_class}.{ranks}"


def timed_part(lines: list[str]) -> list[str]:
    """What a rank does from the barrier on at which a benchmark starts its clock.

    It is the last one but for a barrier at the very end; IS has none, and starts after a broadcast.
    """
    calls = [line.rstrip() for line in lines if line.strip() and line.split()[1] != "compute"]
    names = [line.split()[1] for line in calls]
    barriers = [index for index, name in enumerate(names[:-2]) if name == "barrier"]
    start = barriers[-1] if barriers else names.index("bcast") + 1
    return [calls[0], *calls[start:]]


def save(lines: list[list[str]], path: Path) -> None:
    """A file for each rank, named by it; the archive does not depend on when it is made."""
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for rank, of_rank in enumerate(lines):
            data = "".join(f"{line}\n" for line in of_rank).encode()
            member = tarfile.TarInfo(str(rank))
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


if __name__ == "__main__":
    main()
