#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What works by which launcher, MPI and scheduler: each cell of the table by doing it.

The hosts are those of an emulated cloud, reached by the launchers' agent from its head node, or in
jobs of a real Slurm on the same hosts (tests/lab/slurm_cluster.py). Eight ranks of two groups run
on four hosts. Columns:

- probe: the network is measured;
- trace: the traffic of the program is recorded;
- placed: the ranks run where `fairlead run` placed them;
- again: `fairlead run` alone, twice: the second run takes the first one's trace, and the launcher's
  placement is observed;
- binding: the hosts' ranks have the CPUs that the launcher gives there with the user's own option;
- routers: a router starts on each host, and none is left;
- USR1: a signal to `fairlead run` reaches all ranks;
- end: SIGTERM, or scancel of the job, leaves no rank;
- limit (with --limit, two minutes): the time limit of a job leaves no rank.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from cluster_places import (
    JOB,
    LIMIT_S,
    NUM_RANKS,
    ByAgent,
    FailedError,
    InSlurm,
    Place,
    last_line,
)
from kept_tables import add_tables_option, write_tables
from lab_processes import processes_in
from slurm_cluster import missing_programs, slurm_cluster

import fairlead as fl
from fairlead.act.mpi_builds import list_builds
from fairlead.lab import Lab, Scenario

TESTS = Path(__file__).resolve().parents[2] / "tests" / "lab"
BIN = Path(sys.executable).parent
INTEL = BIN.parent / "intel-mpi" / "bin"
# Not Debian's MPICH, whose programs often hang in MPI_Finalize here, with and without Fairlead.
WHEEL_OF_MPICH = BIN.parent / "mpich" / "bin"
SCENARIO = {
    "hosts": 4, "slots": 2, "nic": "100Mbit/s", "order_seed": 3,
    "racks": {"count": 2, "uplink": "5Mbit/s"},
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Row:
    """A launcher with an MPI.

    Attributes:
        title: Its name in the table.
        launcher: As of `--mpirun`.
        mpicc: Compiles for the MPI.
        abi: Its part of Fairlead.
        binding: The launcher's option that gives each rank a CPU of its own.
    """

    title: str
    launcher: str
    mpicc: str
    abi: str
    binding: str


OPEN_MPI_4 = ("mpicc.openmpi", "openmpi-4")
OPEN_MPI_5 = (f"{BIN}/mpicc", "openmpi-5")
MPICH = (f"{WHEEL_OF_MPICH}/mpicc", "mpich-libmpi.so.12")
INTEL_MPI = (f"{INTEL}/mpicc", "mpich-libmpi.so.12")
MPIRUNS = (
    Row("mpirun, Open MPI 4", "mpirun.openmpi", *OPEN_MPI_4, "--bind-to core"),
    Row("mpirun, Open MPI 5", f"{BIN}/mpirun", *OPEN_MPI_5, "--bind-to core"),
    Row("mpiexec, MPICH", f"{WHEEL_OF_MPICH}/mpiexec", *MPICH, "-bind-to core"),
    Row("mpiexec.hydra, Intel MPI", f"{INTEL}/mpiexec.hydra", *INTEL_MPI, "-genv I_MPI_PIN 1"),
)
SRUNS = (
    Row("srun, Open MPI 4", "srun", *OPEN_MPI_4, "--cpu-bind=map_cpu:0,1"),
    Row("srun, Open MPI 5", "srun", *OPEN_MPI_5, "--cpu-bind=map_cpu:0,1"),
    Row("srun, MPICH", "srun", *MPICH, "--cpu-bind=map_cpu:0,1"),
    Row("srun, Intel MPI", "srun", *INTEL_MPI, "--cpu-bind=map_cpu:0,1"),
)
SHORT_ROWS = (MPIRUNS[0], SRUNS[0])


@dataclasses.dataclass(frozen=True)
class Trial:
    """A row at a place, with a folder of its own."""

    row: Row
    place: Place
    program: Path
    folder: Path

    def fairlead(self, words: str, *, hosts: str | None = None, arguments: str = "") -> str:
        """A command line of Fairlead by this launcher."""
        more = f"--launcher-args={shlex.quote(arguments)}" if arguments else ""
        where = self.place.hosts if hosts is None else hosts
        return f"fairlead {words} --mpirun {self.row.launcher} {where} {more}"


GIVEN = "--network ../given.net.npz --traffic ../given.traffic.npz"


def probe(trial: Trial) -> None:
    """Measure the network."""
    hosts = trial.place.hosts.replace(f"-n {NUM_RANKS}", "")
    trial.place.run(trial.fairlead("probe -o measured.net.npz", hosts=hosts), trial.folder)
    if len(fl.Network.load(trial.folder / "measured.net.npz").hosts) != 4:
        raise FailedError("not all hosts were measured")


def trace(trial: Trial) -> None:
    """Record the traffic."""
    trial.place.run(f"{trial.fairlead('trace -o t.npz')} -- {trial.program}", trial.folder)
    sent = fl.Traffic.load(trial.folder / "t.npz").bytes.toarray()
    if not (sent[0, 2] > 0 == sent[0, 1]):
        raise FailedError("the traffic is not that of the program")


def placed(trial: Trial) -> None:
    """Run where it was decided."""
    line = trial.fairlead(f"run {GIVEN} --run-dir record")
    hosts = [host for host, _ in ranks(trial.place.run(f"{line} -- {trial.program}", trial.folder))]
    placement = json.loads((trial.folder / "record" / "placement.json").read_text())
    if hosts != [placement["hosts"][host] for host in placement["host_of_rank"]]:
        raise FailedError(f"ranks ran on {' '.join(hosts)}")
    if placement["method"] == "launcher":
        raise FailedError("the launcher's placement was kept")


def again(trial: Trial) -> None:
    """Two runs, of which nothing is given."""
    line = f"{trial.fairlead('run')} -- {trial.program}"
    trial.place.run(line, trial.folder)
    second = trial.place.run(line, trial.folder)
    if len(ranks(second)) != NUM_RANKS:
        raise FailedError(f"{len(ranks(second))} ranks ran")
    if found := re.search(r"fairlead: .*cannot be observed.*", second):
        raise FailedError(found[0])
    if "using the trace of an earlier run" not in second:
        raise FailedError("the second run is traced anew")


def binding(trial: Trial) -> None:
    """The user's own binding, with a placement and without."""
    seen = []
    for method in ("launcher", "optimize"):
        line = trial.fairlead(f"run {GIVEN} --method {method}", arguments=trial.row.binding)
        seen.append(ranks(trial.place.run(f"{line} -- {trial.program}", trial.folder)))
    if seen[0] == seen[1]:
        raise FailedError("the launcher's placement was kept")
    if Counter(seen[0]) != Counter(seen[1]):
        raise FailedError(f"CPUs {sorted({*seen[1]})} and not {sorted({*seen[0]})}")


def routers(trial: Trial) -> None:
    """Start a router on each host, and end them."""
    script = trial.folder / "routers.py"
    hosts = [f"h{number}" for number in range(4)]
    script.write_text(
        "from fairlead.act.launch import detect\n"
        "from fairlead.act.plan.relay import new_key\n"
        "from fairlead.act.relay.routers import run_routers\n"
        f"with run_routers(detect({trial.row.launcher!r}), {hosts}, new_key()) as places:\n"
        "    print(len(places))\n"
    )
    trial.place.run(f"{sys.executable} routers.py", trial.folder)
    if processes_in(trial.place.lab, "fairlead-router"):
        raise FailedError("a router is left")


def usr1(trial: Trial) -> None:
    """A signal to the command."""
    printed = waiting(trial)("USR1")
    if (number := printed.count("got USR1")) != NUM_RANKS:
        raise FailedError(f"{number} of {NUM_RANKS} ranks got it")


def end(trial: Trial) -> None:
    """The end of the command, or of its job."""
    waiting(trial)("TERM")
    no_rank_is_left(trial)


def waiting(trial: Trial) -> Callable[[str], str]:
    """A run whose ranks wait for a signal; what sends it one."""
    line = f"{trial.fairlead(f'run {GIVEN}')} -- {trial.program} wait"
    send = trial.place.start(line, trial.folder)
    deadline_s = time.monotonic() + LIMIT_S
    outputs = lambda: "".join(file.read_text() for file in trial.folder.glob("*out*"))  # noqa: E731
    while outputs().count(", CPUs ") < NUM_RANKS:
        if time.monotonic() > deadline_s:
            send("TERM")
            raise FailedError(f"ranks did not start: {last_line(outputs())}")
        time.sleep(0.1)
    return send


def no_rank_is_left(trial: Trial) -> None:
    deadline_s = time.monotonic() + 20.0
    while left := processes_in(trial.place.lab, str(trial.program)):
        if time.monotonic() > deadline_s:
            raise FailedError(f"{len(left)} ranks are left")
        time.sleep(0.1)


def limit(trial: Trial) -> None:
    """The time limit of a job, of which one minute is the least."""
    if not isinstance(trial.place, InSlurm):
        raise FailedError("no scheduler")
    line = f"{trial.fairlead(f'run {GIVEN}')} -- {trial.program} wait"
    job = trial.place.cluster.submit(
        f"#!/bin/bash\nexec {line}\n", *JOB, "--time=1", "--signal=B:USR2@10", cwd=trial.folder
    )
    if (state := trial.place.cluster.wait_for(job, 180.0)) != "TIMEOUT":
        raise FailedError(f"its state is {state}")
    no_rank_is_left(trial)


CELLS: dict[str, Callable[[Trial], None]] = {
    "probe": probe, "trace": trace, "placed": placed, "again": again, "binding": binding,
    "routers": routers, "USR1": usr1, "end": end,
}  # fmt: skip
SHORT_CELLS = ["placed", "end"]


def ranks(printed: str) -> list[tuple[str, str]]:
    """Host and CPUs of each rank."""
    found = re.findall(r"rank (\d+) of \d+ on (\w+), CPUs (\S+)", printed)
    return [(host, cpus) for _, host, cpus in sorted(found, key=lambda row: int(row[0]))]


def lack_of(row: Row) -> str | None:
    """Why a row cannot be had here."""
    if shutil.which(row.launcher) is None:
        return f"{row.launcher} is not installed"
    if row.abi not in {build.abi for build in list_builds()}:
        return f"there is no part for {row.abi} (fairlead mpi list)"
    return None


def trials_of(row: Row, place: Place) -> Iterator[Trial]:
    """Folders for the cells of a row, whose program is compiled."""
    program = place.folder / f"groups-{re.sub(r'[^a-z0-9]+', '-', row.mpicc)}"
    if not program.exists():
        env = {**os.environ, "I_MPI_ROOT": str(INTEL.parent)}
        subprocess.run([row.mpicc, TESTS / "groups.c", "-o", program], check=True, env=env)
    while True:
        yield Trial(row, place, program, Path(tempfile.mkdtemp(dir=place.folder)))


def given_inputs(lab: Lab, folder: Path) -> None:
    """The network and the traffic, so that only the columns that name them measure anything."""
    latency_s = np.full((4, 4), 1e-5)
    fl.Network(lab.hosts, latency_s, lab.shaped_Bps()).save(folder / "given.net.npz")
    parity = np.arange(NUM_RANKS) % 2
    talks = np.equal.outer(parity, parity) & ~np.eye(NUM_RANKS, dtype=bool)
    fl.Traffic(bytes=talks * 6e5, messages=talks * 30.0).save(folder / "given.traffic.npz")


@dataclasses.dataclass
class Done:
    """What was found at a place: a list of cells for each row, and why some do not work."""

    rows: list[list[str]] = dataclasses.field(default_factory=list)
    reasons: list[str] = dataclasses.field(default_factory=list)


def do_rows(rows: Sequence[Row], place: Place, scheduler: str, cells: Sequence[str]) -> Done:
    """Do the cells of these rows."""
    done = Done()
    for row in rows:
        if lack := lack_of(row):
            done.rows.append([row.title, scheduler, *["-"] * len(cells)])
            done.reasons.append(f"{row.title}, {scheduler}: cannot be had here, because {lack}")
            continue
        shown = []
        for name, trial in zip(cells, trials_of(row, place), strict=False):
            reason = do_cell(CELLS[name], trial)
            shown.append("no" if reason else "yes")
            where = f"{row.title}, {scheduler}, {name}"
            print(f"{where}: {reason or 'yes'}", file=sys.stderr, flush=True)
            done.reasons += [f"{where}: {reason}"] if reason else []
        done.rows.append([row.title, scheduler, *shown])
    return done


def do_cell(cell: Callable[[Trial], None], trial: Trial) -> str:
    """Why it does not work; empty where it does."""
    try:
        cell(trial)
    except (FailedError, AssertionError, fl.Error, subprocess.SubprocessError) as error:
        return last_line(str(error))
    return ""


@contextlib.contextmanager
def cloud(name: str) -> Iterator[tuple[Lab, Path]]:
    """A cloud of its own, and a folder with the given inputs."""
    scenario = Scenario.model_validate({**SCENARIO, "name": f"{name}-{os.getpid()}"})
    with (
        Lab.up(scenario) as lab,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        given_inputs(lab, Path(folder))
        yield lab, Path(folder)


def do_by_agent(rows: Sequence[Row], cells: Sequence[str]) -> Done:
    """Without a scheduler."""
    with cloud("agent") as (lab, folder):
        return do_rows(rows, ByAgent(lab, folder), "agent", cells)


def do_in_slurm(rows: Sequence[Row], cells: Sequence[str]) -> Done:
    """In jobs of Slurm."""
    if missing := missing_programs():
        reason = f"Slurm: cannot be had here, because {', '.join(missing)} are missing"
        return Done(reasons=[reason])
    with cloud("slurm") as (lab, folder), slurm_cluster(lab, folder, cpus=4) as cluster:
        return do_rows(rows, InSlurm(cluster), "Slurm", cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="two rows in Slurm, two columns")
    parser.add_argument("--limit", action="store_true", help="a job's time limit, a minute a row")
    parser.add_argument("--only", default="", help="rows whose title has this")
    parser.add_argument("--hosts-by", choices=("agent", "Slurm"), help="default: both")
    parser.add_argument("--cells", nargs="+", choices=CELLS, help="columns; default: all")
    add_tables_option(parser)
    options = parser.parse_args()
    if options.limit:
        CELLS["limit"] = limit
    cells = SHORT_CELLS if options.short else options.cells or [*CELLS]
    rows = [row for row in (*MPIRUNS, *SRUNS) if options.only in row.title]
    # Both at the same time, since most of it is waiting.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        places = []
        if not options.short and options.hosts_by != "Slurm":
            by_agent = [row for row in rows if row in MPIRUNS]
            places.append(pool.submit(do_by_agent, by_agent, cells))
        if options.short or options.hosts_by != "agent":
            in_slurm = SHORT_ROWS if options.short else rows
            places.append(pool.submit(do_in_slurm, in_slurm, cells))
        found = [place.result() for place in places]
    table = Table("launcher, MPI", "hosts by", *cells, title="what works, by doing it")
    for row in (row for done in found for row in done.rows):
        table.add_row(*row)
    reasons = [reason for done in found for reason in done.reasons]
    write_tables(options.tables, table, *([_why(reasons)] if reasons else []))
    console = Console(width=120)
    console.print(table)
    for reason in reasons:
        console.print(reason, markup=False, highlight=False)
    if options.short and any(": cannot" not in reason for reason in reasons):
        sys.exit(1)


def _why(reasons: Sequence[str]) -> Table:
    table = Table("cell", "reason", title="what does not work")
    for reason in reasons:
        cell, _, why = reason.partition(": ")
        table.add_row(cell, escape(why))
    return table


if __name__ == "__main__":
    main()
