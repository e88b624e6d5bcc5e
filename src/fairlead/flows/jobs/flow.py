# SPDX-License-Identifier: Apache-2.0
"""`fairlead jobs`: several programs placed together, and started at the same time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairlead.act import launch
from fairlead.act.launch import Launcher, OnLine, detect
from fairlead.decide.jobs import MappedJobs, SharedHosts, map_jobs
from fairlead.decide.jobs.mapped_jobs import distinct_names
from fairlead.decide.jobs.methods import (
    DEFAULT_JOB_METHOD,
    require_job_method,
    require_search_limits,
)
from fairlead.errors import TopologyError
from fairlead.files.run_directory import RunDirectory
from fairlead.flows.inputs.alongside import announce_to_others
from fairlead.flows.inputs.tracing import find_traffic, record_traffic
from fairlead.flows.jobs.jobs_file import JobEntry
from fairlead.flows.request import LauncherRequest, Request
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.cluster import Cluster
from fairlead.narrator import Narrator
from fairlead.simulation import Job

__all__ = ["JobsRequest", "place_traced_jobs", "run_jobs"]

_APART_S = 0.5
"""Between two starts. At its start each `mpirun` and daemon of Open MPI 4 removes the folder
/tmp/ompi.HOST.UID if it is empty, even if another one has just created it for its own files; that
one then fails (open-mpi/ompi issue 8510; seen here with 4.1.4)."""


@dataclasses.dataclass(frozen=True)
class JobsRequest:
    """What the user asked for.

    Attributes:
        jobs: At least one.
        method: Name in `fairlead.decide.jobs.JOB_METHODS`.
        cluster: Hosts and slots.
        taken: Slots of a host that others use, by their number from 0.
        machine: A TOML file with the rates of the hosts; None uses SPREAD's.
        scale: Part of the messages to simulate; None simulates all, up to 20 million.
        time_limit_s: When the method "optimize" is to stop; None: after a bounded amount of work.
        seed: Seed of all random choices.
        launcher: By which launcher each program is started.
        directory: Folder of this run; None makes one under the user's state folder.
    """

    jobs: Sequence[JobEntry]
    cluster: Cluster
    method: str = DEFAULT_JOB_METHOD
    taken: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    machine: Path | None = None
    scale: float | None = None
    time_limit_s: float | None = None
    seed: int = 0
    launcher: LauncherRequest = dataclasses.field(default_factory=LauncherRequest)
    directory: Path | None = None

    def hosts(self) -> SharedHosts:
        """The hosts with what is taken of them.

        Raises:
            Error: They are not known, or a value is wrong.
        """
        return SharedHosts.of(self.cluster, self.taken, self.machine)

    def as_dict(self) -> dict[str, Any]:
        """All of it by its names, as the record of a run has it."""
        jobs = [job.as_dict() for job in self.jobs]
        return {**dataclasses.asdict(dataclasses.replace(self, jobs=())), "jobs": jobs}


def place_traced_jobs(request: JobsRequest, narrator: Narrator) -> MappedJobs:
    """Place jobs together by the traffic file of each.

    Raises:
        Error: A file cannot be read, the jobs do not fit, or a value is wrong.
    """
    hosts = request.hosts()
    # A program that runs twice has one file, which is read once.
    files = {job.traffic for job in request.jobs if job.traffic is not None}
    traffic_of_file = {file: load_traffic(file) for file in files}
    jobs = []
    for entry in request.jobs:
        assert entry.traffic is not None, "a job without traffic is traced first"
        traffic = traffic_of_file[entry.traffic]
        if entry.ranks not in (None, traffic.num_ranks):
            raise TopologyError(
                f"{entry.traffic}: holds the traffic of {traffic.num_ranks} ranks, but job "
                f"{entry.title!r} has {entry.ranks}"
            )
        jobs.append(Job.from_traffic(traffic, traffic.run_time_s, entry.title))
    return _place(jobs, request, hosts, narrator)


def run_jobs(
    request: JobsRequest,
    narrator: Narrator,
    announce: Callable[[MappedJobs, Path], None],
    on_line: OnLine,
) -> int:
    """Place the programs together, start them at the same time, and wait for all of them.

    Args:
        request: What the user asked for; each job has a program and its number of ranks.
        narrator: Reports each step that takes time.
        announce: Receives the placement with what is expected of it, and the folder of the run,
            before anything starts.
        on_line: Receives their output, line by line.

    Returns:
        The exit code of the program that failed first; 0 where none did.

    Raises:
        Error: A traffic or the placement could not be determined; nothing was started.
    """
    require_job_method(request.method)
    require_search_limits(request.seed, request.scale, request.time_limit_s)
    launcher = detect(request.launcher.mpirun, request.jobs[0].program)
    hosts = request.hosts()
    hosts.require_room_for(sum(_num_ranks(job) for job in request.jobs))
    directory = RunDirectory.new(request.directory, "jobs")
    directory.record("request", request.as_dict())
    # Their messages disturb what another run measures there.
    with announce_to_others(request.cluster.hosts, "jobs"), directory.record_failure():
        jobs = _trace(request, launcher, hosts, directory, narrator)
        mapped = _place(jobs, request, hosts, narrator)
        mapped.save(directory.path)
        announce(mapped, directory.path)
        return _start(request, launcher, mapped, directory, on_line)


def _num_ranks(job: JobEntry) -> int:
    assert job.ranks is not None, "a job with a program has its ranks"
    return job.ranks


def _trace(
    request: JobsRequest,
    launcher: Launcher,
    hosts: SharedHosts,
    directory: RunDirectory,
    narrator: Narrator,
) -> list[Job]:
    names = distinct_names(job.title for job in request.jobs)
    jobs = []
    for name, entry in zip(names, request.jobs, strict=True):
        folder = RunDirectory(directory.file(name))
        one = Request(
            entry.program,
            _num_ranks(entry),
            hosts.free,
            request.launcher,
            traffic=entry.traffic,
        )
        # One after the other: what a program sends does not depend on the others.
        program = find_traffic(one, launcher, hosts.free, folder, narrator)
        record_traffic(program, folder)
        jobs.append(Job.from_traffic(program.traffic, program.traffic.run_time_s, name))
    return jobs


def _place(
    jobs: Sequence[Job], request: JobsRequest, hosts: SharedHosts, narrator: Narrator
) -> MappedJobs:
    with narrator.progress("placing and simulating") as on_progress:
        return map_jobs(
            jobs,
            hosts,
            request.method,
            seed=request.seed,
            scale=request.scale,
            time_limit_s=request.time_limit_s,
            on_progress=on_progress,
        )


def _start(
    request: JobsRequest,
    launcher: Launcher,
    mapped: MappedJobs,
    directory: RunDirectory,
    on_line: OnLine,
) -> int:
    commands = [
        launcher.prepare_command(
            launch.LaunchSpec(
                entry.program,
                _num_ranks(entry),
                mapped.hosts.cluster,
                placement,
                launcher_args=request.launcher.arguments,
                shares_hosts=True,
            ),
            directory.file(job.name),
        )
        for entry, job, placement in zip(
            request.jobs, mapped.workload.jobs, mapped.placements, strict=True
        )
    ]
    directory.record("start", {"launcher_commands": commands})
    ended = launch.run_concurrently(commands, on_line, apart_s=_APART_S)
    exit_codes = [finished.returncode for finished in ended.finished]
    seconds = [finished.seconds for finished in ended.finished]
    directory.record("end", {"exit_codes": exit_codes, "seconds": seconds})
    return ended.returncode
