# SPDX-License-Identifier: Apache-2.0
"""Several jobs placed together on real hosts, with the simulator's prediction and their files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fairlead.act.launch import Cores
from fairlead.act.launch.formats import render_placement
from fairlead.decide.jobs.methods import DEFAULT_JOB_METHOD, place_jobs
from fairlead.decide.jobs.shared_hosts import SharedHosts
from fairlead.errors import InputError
from fairlead.files.archive import write_text
from fairlead.model.placement import Placement
from fairlead.narrator import Progress
from fairlead.simulation.job import Job
from fairlead.simulation.jobs_placement import JobsPlacement
from fairlead.simulation.jobs_record import JOBS, JobsRecord
from fairlead.simulation.run import SimulationResult, simulate
from fairlead.simulation.workload import Workload

__all__ = ["MappedJobs", "distinct_names", "map_jobs"]

_MOST_MESSAGES = 20_000_000
"""Most messages to simulate without a given scale: some seconds."""


@dataclasses.dataclass(frozen=True, eq=False)
class MappedJobs:
    """Jobs with a slot of a host for each of their ranks.

    Attributes:
        hosts: The hosts and their taken slots.
        workload: The jobs; each has a name of its own.
        cores: A core of the hosts' machine for each rank.
        prediction: The simulator's result.
    """

    hosts: SharedHosts
    workload: Workload
    cores: JobsPlacement
    prediction: SimulationResult

    @property
    def placements(self) -> list[Placement]:
        """Host of each rank, for each job."""
        return self.hosts.placements(self.cores)

    def as_dict(self) -> dict[str, Any]:
        """All fields by name, JSON-serialisable; a rank's core is [socket, core]."""
        return {
            "kind": "jobs-placement",
            "version": 1,
            "method": self.cores.method,
            "hosts": list(self.hosts.cluster.hosts),
            "slots": list(self.hosts.cluster.slots),
            "taken": {host: list(slots) for host, slots in self.hosts.taken.items()},
            "jobs": [
                {
                    "name": job.name,
                    "num_ranks": job.num_ranks,
                    "host_of_rank": placement.host_of_rank.tolist(),
                    "core_of_rank": self.hosts.socket_and_core(self.cores, index),
                }
                for index, (job, placement) in enumerate(
                    zip(self.workload.jobs, self.placements, strict=True)
                )
            ],
            "prediction": self.prediction.as_dict(),
        }

    def record(self) -> JobsRecord:
        """The same as its file is read."""
        return JobsRecord.model_validate(self.as_dict())

    def write(
        self, folder: Path, format: str, *, bind: bool = False, cores: int | None = None
    ) -> list[Path]:
        """Write a launcher's file for each job, `NAME.FORMAT`, and everything as jobs.json.

        Args:
            folder: Made where it is missing.
            format: A name in `fairlead.act.launch.FORMATS`.
            bind: Bind each rank to its core; only the rankfiles can.
            cores: Cores of each host, for a rankfile that does not bind; None assumes as many as
                slots.

        Returns:
            The launchers' files, in the order of the jobs.

        Raises:
            InputError: The format is unknown or cannot bind, or a file cannot be written.
        """
        texts = {}
        for index, (job, placement) in enumerate(
            zip(self.workload.jobs, self.placements, strict=True)
        ):
            named = None if cores is None else Cores(cores)
            if bind:
                named = Cores(of_rank=self.hosts.socket_and_core(self.cores, index))
            text = render_placement(placement, self.hosts.cluster, format, named)
            texts[folder / f"{job.name}.{format}"] = text
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
        for path, text in texts.items():
            write_text(path, text)
        self.save(folder)
        return list(texts)

    def save(self, folder: Path) -> None:
        """Write everything as jobs.json into a folder."""
        write_text(folder / JOBS, json.dumps(self.as_dict(), indent=2, allow_nan=False) + "\n")


def map_jobs(
    jobs: Sequence[Job],
    hosts: SharedHosts,
    method: str = DEFAULT_JOB_METHOD,
    *,
    seed: int = 0,
    scale: float | None = None,
    time_limit_s: float | None = None,
    on_progress: Progress | None = None,
) -> MappedJobs:
    """Place jobs on hosts together, and simulate their waiting times.

    Args:
        jobs: The jobs that run at the same time; jobs of the same name get numbers.
        hosts: The hosts and their taken slots.
        method: Name in `fairlead.decide.jobs.JOB_METHODS`.
        seed: Where random numbers start, 0 to 2**32 - 1.
        scale: Part of the messages to simulate, also where "optimize" compares placements; None
            simulates all, up to 20 million.
        time_limit_s: When "optimize" is to stop, in seconds; by default it does a bounded amount
            of work.
        on_progress: Called with the steps done and the steps in all, first of placing, then of
            simulating.

    Raises:
        TopologyError: There are fewer free slots than ranks.
        InputError: The method is unknown, or a number is out of its range.
    """
    hosts.require_room_for(sum(job.num_ranks for job in jobs))
    names = distinct_names(job.name for job in jobs)
    named = [dataclasses.replace(job, name=name) for job, name in zip(jobs, names, strict=True)]
    workload = Workload("jobs", named, hosts.machine)
    if scale is None:
        scale = min(1.0, _MOST_MESSAGES / max(1, workload.num_messages))
    cores = place_jobs(
        workload,
        method,
        seed=seed,
        scale=scale,
        time_limit_s=time_limit_s,
        on_progress=on_progress,
    )
    prediction = simulate(workload, cores, scale=scale, on_progress=on_progress)
    return MappedJobs(hosts, workload, cores, _by_host_names(prediction, hosts))


def _by_host_names(prediction: SimulationResult, hosts: SharedHosts) -> SimulationResult:
    """The simulator's servers, renamed after hosts: "node3.nic.send" becomes "h3.nic.send"."""
    servers = []
    for server in prediction.servers:
        node, _, rest = server.name.partition(".")
        host = hosts.cluster.hosts[int(node.removeprefix("node"))]
        servers.append(dataclasses.replace(server, name=f"{host}.{rest}"))
    return dataclasses.replace(prediction, servers=tuple(servers))


def distinct_names(names: Iterable[str]) -> Iterator[str]:
    """The names; a repeated name becomes NAME-2, since a program may run twice."""
    used = {Path(JOBS).stem}  # The name of jobs.json itself.
    for name in names:
        distinct, number = name, 1
        while distinct in used:
            number += 1
            distinct = f"{name}-{number}"
        used.add(distinct)
        yield distinct
