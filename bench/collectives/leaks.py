#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do 100,000 collectives that follow schedules leave anything behind?

Three ranks on invented hosts (`-n`) call every operation in turn, on communicators that come and
go, with every call forced through a schedule; in each turn by other methods. Printed are what the
memory in use grew by after the first tenth of the calls (the rank with most), and how many
communicators and requests of the library were made and are left at the end
(tests/mpi/programs/live_objects.c). MPICH's ranks wait busily: give it no more of them than cores.

python bench/collectives/leaks.py     minutes; --short for 1000 calls
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from forced_suite import ON_HOSTS, ROOT
from mpi4py_suite import forced_plan

from fairlead.act.launch import Launcher, LaunchSpec, detect
from fairlead.act.mpi_builds import find

PROGRAMS = ROOT / "tests" / "mpi" / "programs"
COMPILERS = {
    "openmpi": ("mpicc.openmpi", "mpicxx.openmpi"),
    "mpich": ("mpicc.mpich", "mpicxx.mpich"),
}
MOST_GROWN_BYTES = 100 * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="1000 calls, Open MPI only")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=2, help="of methods")
    parser.add_argument("-n", type=int, default=3, dest="num_ranks")
    parser.add_argument("--mpi", action="append", choices=COMPILERS, help="repeatable")
    options = parser.parse_args()
    num_calls, turns = (1000, 1) if options.short else (options.calls, options.turns)
    hosts = [f"host{rank}" for rank in range(options.num_ranks)]
    mpis = options.mpi or [*COMPILERS][: 1 if options.short else None]
    has_leaked = False
    for mpi in mpis:
        launcher = detect(f"mpirun.{mpi}")
        with tempfile.TemporaryDirectory() as folder:
            programs = built(mpi, Path(folder))
            for turn in range(turns):
                plan = Path(folder) / f"plan{turn}"
                with forced_plan(plan, hosts, turn, with_native=True):
                    output = run(launcher, plan, hosts, programs, num_calls)
                has_leaked |= is_leak(output)
                print(
                    f"{launcher.name}, {len(hosts)} ranks, {num_calls} calls, turn {turn}: "
                    f"{output}",
                    flush=True,
                )
    return 1 if has_leaked else 0


def is_leak(output: str) -> bool:
    grown_bytes = int(re.findall(r"grown (-?\d+)", output)[0])
    left = re.findall(r"(\d+) left", output)
    return grown_bytes > MOST_GROWN_BYTES or left != ["0", "0"]


def built(mpi: str, folder: Path) -> tuple[Path, Path]:
    """The program, and the library that counts what is alive."""
    compile_c, compile_cxx = COMPILERS[mpi]
    program, counter = folder / "collectives", folder / "live_objects.so"
    source = PROGRAMS / "collectives.cpp"
    subprocess.run([compile_cxx, "-O1", "-pthread", "-o", program, source], check=True)
    shared = ["-shared", "-fPIC", "-ldl"]
    subprocess.run([compile_c, *shared, "-o", counter, PROGRAMS / "live_objects.c"], check=True)
    return program, counter


def run(
    launcher: Launcher, plan: Path, hosts: list[str], programs: tuple[Path, Path], num_calls: int
) -> str:
    """What the program and the counting library print, in one line."""
    program, counter = programs
    extra: tuple[str, ...] = ()
    if launcher.family == "openmpi":
        os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        extra = ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
    preload = f"{find(launcher).intercept}:{counter}"
    words = (str(ON_HOSTS), ",".join(hosts), str(program), "often", str(num_calls))
    env = {"LD_PRELOAD": preload, "FAIRLEAD_PLAN": str(plan)}
    spec = LaunchSpec(words, len(hosts), env=env, launcher_args=extra)
    command = launcher.prepare_command(spec, plan)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return "; ".join(done.stdout.split("\n")).strip("; ")


if __name__ == "__main__":
    sys.exit(main())
