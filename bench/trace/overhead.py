#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of tracing: nanoseconds per call, and the share of a real code's run time.

Runs without the library, with it but nothing switched on, and traced ones alternate. Targets:
under 100 ns per point-to-point call, under 1 % of a real code, which is Debian's LAMMPS (package
lammps) with examples/real-codes/in.melt.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fairlead.act.launch import Launcher, LaunchSpec, detect
from fairlead.act.mpi_builds import find
from fairlead.flows.compare.statistics import mean_interval, ratio_to_baseline
from fairlead.measure.trace import trace

HERE = Path(__file__).parent
MELT = HERE.parents[1] / "examples" / "real-codes" / "in.melt"
POINT_TO_POINT = ("isend", "isend-on-duplicate", "sendrecv", "start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="2 repeats")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--mpirun", default=None)
    parser.add_argument("--mpicc", default="mpicc", help="compiler wrapper of the same MPI")
    parser.add_argument("--calls-only", action="store_true", help="without the real code")
    parser.add_argument("--ranks", type=int, default=2, help="ranks of the real code")
    options = parser.parse_args()
    repeats = 2 if options.short else options.repeats
    launcher = detect(options.mpirun)
    with tempfile.TemporaryDirectory() as folder:
        print_calls(launcher, options.mpicc, repeats, Path(folder))
        if options.calls_only:
            return
        print_real_code(launcher, options.ranks, repeats, Path(folder))


def print_calls(launcher: Launcher, mpicc: str, repeats: int, folder: Path) -> None:
    """One row per kind of call: its time alone, and what the library adds, off and tracing.

    "fastest" compares the fastest run of each, to which other processes have added least.
    """
    program = folder / "calls"
    subprocess.run([mpicc, "-O2", HERE / "calls.c", "-o", program], check=True)
    spec = LaunchSpec((str(program),), 1)
    plain: dict[str, list[float]] = {}
    off: dict[str, list[float]] = {}
    traced: dict[str, list[float]] = {}
    envs = ({}, preload_env(launcher), tracing_env(launcher, folder))
    for _ in range(repeats):
        for sink, env in zip((plain, off, traced), envs, strict=True):
            for name, figure in re.findall(
                r"^(\S+) (\S+)$", run(launcher, spec, env), re.MULTILINE
            ):
                sink.setdefault(name, []).append(float(figure))
    table = Table(title=f"ns per call, {version(launcher)}, mean of {repeats} runs [95 % interval]")
    for column in ("call", "alone", "off costs", "tracing costs", "fastest", "target"):
        table.add_column(column, justify="left" if column == "call" else "right")
    for name, times in plain.items():
        table.add_row(
            name,
            f"{mean_interval(times).value:.0f}",
            difference(off[name], times),
            difference(traced[name], times),
            f"{min(traced[name]) - min(times):.1f}",
            "< 100" if name in POINT_TO_POINT else "",
        )
    Console().print(table)


def print_real_code(launcher: Launcher, num_ranks: int, repeats: int, folder: Path) -> None:
    """The share of LAMMPS' own loop time that tracing adds, and the calls it makes."""
    lammps = shutil.which("lmp")
    if lammps is None or launcher.family != "openmpi":
        print("LAMMPS melt: not run; it needs Debian's lammps and its Open MPI", file=sys.stderr)
        return
    program = (
        lammps,
        "-in",
        str(MELT),
        "-log",
        "none",
        "-var",
        "scale",
        "2",
        "-var",
        "steps",
        "200",
    )
    spec = LaunchSpec(program, num_ranks)
    seconds: dict[str, list[float]] = {"plain": [], "traced": []}
    for _ in range(repeats):
        for sink, env in (("plain", {}), ("traced", tracing_env(launcher, folder))):
            found = re.search(r"Loop time of (\S+)", run(launcher, spec, env))
            assert found is not None, "LAMMPS printed no loop time"
            seconds[sink].append(float(found[1]))
    ratio = ratio_to_baseline(seconds["traced"], seconds["plain"])
    share, low, high = (100 * (value - 1) for value in ratio)
    fastest = 100 * (min(seconds["traced"]) / min(seconds["plain"]) - 1)
    traffic = trace(launcher, spec, log=folder / "log").traffic
    messages = int(traffic.messages.sum())
    plain_s = mean_interval(seconds["plain"]).value
    most = 100 * messages / num_ranks * 100e-9 / min(seconds["plain"])
    Console().print(
        f"LAMMPS melt on {num_ranks} ranks, {repeats} runs each of {plain_s:.2f} s: tracing costs "
        f"{share:+.2f} % [{low:+.2f}, {high:+.2f}], fastest against fastest {fastest:+.2f} % "
        f"(target < 1 %). With 100 ns for each of its {messages:,} messages it would be "
        f"{most:.4f} %.",
        soft_wrap=True,
    )


def difference(times: Sequence[float], baseline: Sequence[float]) -> str:
    cost = mean_interval([time - alone for time, alone in zip(times, baseline, strict=True)])
    return f"{cost.value:.1f} [{cost.low:.1f}, {cost.high:.1f}]"


def preload_env(launcher: Launcher) -> dict[str, str]:
    return {"LD_PRELOAD": str(find(launcher).intercept)}


def tracing_env(launcher: Launcher, folder: Path) -> dict[str, str]:
    """What `fairlead run` traces with; shares come so often that each program has some."""
    traces = {"FAIRLEAD_TRACE": str(folder / "trace"), "FAIRLEAD_SHARES": str(folder)}
    return {**preload_env(launcher), **traces, "FAIRLEAD_SHARE_INTERVAL": "0.1"}


def run(launcher: Launcher, spec: LaunchSpec, env: Mapping[str, str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        argv = launcher.prepare_command(
            LaunchSpec(spec.program, spec.num_ranks, env=env), Path(folder)
        )
        done = subprocess.run(argv, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def version(launcher: Launcher) -> str:
    return f"{launcher.name} {'.'.join(map(str, launcher.version))}"


if __name__ == "__main__":
    main()
