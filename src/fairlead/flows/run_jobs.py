# SPDX-License-Identifier: Apache-2.0
"""`fairlead run --job`: several programs placed together, then started at the same time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fairlead.act import launch
from fairlead.act.launch import Launcher, OnLine, detect
from fairlead.decide.jobs import MappedJobs, SharedHosts, map_jobs
from fairlead.decide.jobs.mapped_jobs import told_apart
from fairlead.decide.jobs.methods import (
    DEFAULT_JOB_METHOD,
    require_job_method,
    require_search_limits,
)
from fairlead.files.run_directory import TRAFFIC, RunDirectory
from fairlead.flows.request import Request, hosts_of
from fairlead.flows.tracing import traced
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator
from fairlead.simulation import Job

_APART_S = 0.5
"""Between two starts. At its start each `mpirun` and daemon of Open MPI 4 removes the folder
/tmp/ompi.HOST.UID if it is empty, even if another one has just created it for its own files; that
one then fails (open-mpi/ompi issue 8510; seen here with 4.1.4)."""


@dataclasses.dataclass(frozen=True)
class JobEntry:
    """One of the programs to run.

    Attributes:
        program: Program and arguments.
        num_ranks: Number of ranks, at least 2.
        traffic: A `.traffic.npz` file; None traces the program unless it was traced before.
        name: What it is called; None takes the program's.
    """

    program: tuple[str, ...]
    num_ranks: int
    traffic: Path | None = None
    name: str | None = None


@dataclasses.dataclass(frozen=True)
class JobsRequest:
    """What the user asked for.

    Attributes:
        jobs: At least one.
        method: Name in `fairlead.decide.jobs.JOB_METHODS`.
        hostfile: Hosts and slots, or the file with them; None takes Slurm's allocation.
        taken: Slots of a host that others use, by their number from 0.
        machine: A TOML file with the rates of the hosts; None uses SPREAD's.
        mpirun: The launcher; None looks for it.
        launcher_args: Arguments passed to each launcher unchanged.
        scale: Part of the messages to simulate; None simulates all, up to 20 million.
        time_limit_s: When the method "optimize" is to stop; None: after a bounded amount of work.
        seed: Seed of all random choices.
        directory: Folder of this run; None makes one under the user's state folder.
    """

    jobs: Sequence[JobEntry]
    method: str = DEFAULT_JOB_METHOD
    hostfile: Path | Cluster | None = None
    taken: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    machine: Path | None = None
    mpirun: str | None = None
    launcher_args: tuple[str, ...] = ()
    scale: float | None = None
    time_limit_s: float | None = None
    seed: int = 0
    directory: Path | None = None


def run_jobs(
    request: JobsRequest,
    narrator: Narrator,
    announce: Callable[[MappedJobs], None],
    on_line: OnLine,
) -> int:
    """Place the programs together, start them at the same time, and wait for all of them.

    Args:
        request: What the user asked for.
        narrator: Tells the user of each step that takes time.
        announce: Receives the placement and what is expected of it, before anything starts.
        on_line: Receives their output, line by line.

    Returns:
        The exit code of the program that failed first; 0 where none did.

    Raises:
        Error: A traffic or the placement could not be determined; nothing was started.
    """
    require_job_method(request.method)
    require_search_limits(request.seed, request.scale, request.time_limit_s)
    launcher = detect(request.mpirun)
    hosts = SharedHosts.of(hosts_of(request.hostfile), request.taken, request.machine)
    hosts.require_room_for(sum(job.num_ranks for job in request.jobs))
    directory = RunDirectory.new(request.directory, "jobs")
    directory.note("request", dataclasses.asdict(request))
    mapped = _mapped(request, launcher, hosts, directory, narrator)
    announce(mapped)
    return _started(request, launcher, mapped, directory, on_line)


def _mapped(
    request: JobsRequest,
    launcher: Launcher,
    hosts: SharedHosts,
    directory: RunDirectory,
    narrator: Narrator,
) -> MappedJobs:
    names = told_apart(job.name or Path(job.program[0]).name for job in request.jobs)
    jobs = []
    for name, wanted in zip(names, request.jobs, strict=True):
        folder = RunDirectory(directory.file(name))
        one = Request(
            wanted.program,
            wanted.num_ranks,
            traffic=wanted.traffic,
            launcher_args=request.launcher_args,
        )
        # One after the other: what a program sends does not depend on the others.
        traffic, trace_s, _ = traced(one, launcher, hosts.free, folder, narrator)
        traffic.save(folder.file(TRAFFIC))
        folder.note("traffic", {"run_time_s": traffic.run_time_s, "trace_s": trace_s})
        jobs.append(Job.from_traffic(traffic, traffic.run_time_s, name))
    with narrator.progress("placing and simulating") as on_progress:
        mapped = map_jobs(
            jobs,
            hosts,
            request.method,
            seed=request.seed,
            scale=request.scale,
            time_limit_s=request.time_limit_s,
            on_progress=on_progress,
        )
    mapped.save(directory.path)
    return mapped


def _started(
    request: JobsRequest,
    launcher: Launcher,
    mapped: MappedJobs,
    directory: RunDirectory,
    on_line: OnLine,
) -> int:
    commands = [
        launcher.prepare_command(
            launch.LaunchSpec(
                wanted.program,
                wanted.num_ranks,
                mapped.hosts.cluster,
                placement,
                launcher_args=request.launcher_args,
                shares_hosts=True,
            ),
            directory.file(job.name),
        )
        for wanted, job, placement in zip(
            request.jobs, mapped.workload.jobs, mapped.placements, strict=True
        )
    ]
    directory.note("start", {"launcher_commands": commands})
    ended = launch.run_concurrently(commands, on_line, apart_s=_APART_S)
    exit_codes = [finished.returncode for finished in ended.finished]
    seconds = [finished.seconds for finished in ended.finished]
    directory.note("end", {"exit_codes": exit_codes, "seconds": seconds})
    return ended.returncode
