# SPDX-License-Identifier: Apache-2.0
"""Placements of several jobs as files: `jobs.json`, and plain lists of cores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pydantic

from fairlead.errors import TopologyError
from fairlead.files.json_files import parse_json
from fairlead.files.naming import name_source
from fairlead.files.whole_file import read_bytes
from fairlead.model.placement import Placement
from fairlead.simulation.jobs_placement import JobsPlacement
from fairlead.simulation.machine import Machine

__all__ = ["JOBS", "JobsRecord", "PlacedJob", "Prediction", "read_jobs_placement"]

JOBS = "jobs.json"
"""Its name in the folders that `jobs map -o` and `jobs run` write."""

_Count = Annotated[int, pydantic.Field(ge=0)]
_Duration = Annotated[float, pydantic.Field(ge=0, allow_inf_nan=False)]


class PlacedJob(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One job: for each rank the index of its host, and [socket, core] there."""

    name: str
    num_ranks: int
    host_of_rank: tuple[_Count, ...]
    core_of_rank: tuple[tuple[_Count, _Count], ...]


class PredictedJob(pydantic.BaseModel, frozen=True):
    """The simulator's prediction for one job."""

    name: str
    waiting_time_s: _Duration
    finish_time_s: _Duration


class Prediction(pydantic.BaseModel, frozen=True):
    """The part of the simulator's prediction that is shown; see `SimulationResult`."""

    scale: float
    num_messages: int
    waiting_time_s: _Duration
    finish_time_s: _Duration
    total_finish_time_s: _Duration
    jobs: tuple[PredictedJob, ...]
    machine: Machine


class JobsRecord(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A `jobs.json`, as `MappedJobs.save` writes it.

    Attributes:
        method: Name of the method.
        hosts, slots: All of the cluster.
        taken: Slots of a host that were not free.
        jobs: In their order.
        prediction: The simulator's prediction for them.
    """

    kind: Literal["jobs-placement"]
    version: Literal[1]
    method: str
    hosts: Annotated[tuple[str, ...], pydantic.Field(min_length=1)]
    slots: tuple[int, ...]
    taken: dict[str, tuple[int, ...]]
    jobs: Annotated[tuple[PlacedJob, ...], pydantic.Field(min_length=1)]
    prediction: Prediction

    @pydantic.model_validator(mode="after")
    def _check_lengths(self) -> JobsRecord:
        if len(self.prediction.jobs) != len(self.jobs):
            raise ValueError(f"prediction: {len(self.prediction.jobs)} jobs, not {len(self.jobs)}")
        for job in self.jobs:
            if not job.num_ranks == len(job.host_of_rank) == len(job.core_of_rank):
                raise ValueError(f"job {job.name!r}: a host and a core for each rank are needed")
        return self

    @classmethod
    def load(cls, path: Path | str) -> JobsRecord:
        """Read a record from a JSON file.

        Raises:
            InputError: The file is missing, damaged, of another kind or version, or holds an
                impossible value; the message names file and field.
        """
        return _record(read_bytes(path), path)

    def placements(self) -> list[Placement]:
        """Host of each rank, for each job."""
        return [Placement(self.hosts, np.array(job.host_of_rank), self.method) for job in self.jobs]

    def to_placement(self, method: str | None = None) -> JobsPlacement:
        """The cores, on the machine that the hosts were taken for.

        Args:
            method: Name of the placement; None for that of its method.

        Raises:
            TopologyError: A core is not there, was taken, or has more than one rank.
        """
        machine = self.prediction.machine
        cores = []
        for job in self.jobs:
            node = np.array(job.host_of_rank)
            socket, core = np.array(job.core_of_rank).T
            outside = np.flatnonzero((socket >= machine.sockets) | (core >= machine.cores))
            if outside.size:
                rank = outside[0]
                raise TopologyError(
                    f"job {job.name!r}: rank {rank}: there is no core {job.core_of_rank[rank]}"
                )
            cores.append((node * machine.sockets + socket) * machine.cores + core)
        return JobsPlacement(machine, cores, method or self.method)


def read_jobs_placement(path: Path | str, machine: Machine) -> JobsPlacement:
    """A placement of several jobs from a file; it gets the file's name.

    Args:
        path: A `jobs.json`, or a JSON list with a list of cores for each job: `[[0, 1], [16, 17]]`;
            cores are numbered node by node, socket by socket.
        machine: The machine of the cores in a list; a `jobs.json` contains its own.

    Raises:
        InputError: The file is missing, damaged or of another kind; the message names file and
            field.
        TopologyError: A core is not there, is taken, or has more than one rank.
    """
    text = read_bytes(path)
    if not text.lstrip().startswith(b"["):
        return _record(text, path).to_placement(str(path))
    cores = parse_json(text, list[list[int]], path, is_strict=True)
    return JobsPlacement(machine, [np.array(job, dtype=np.int64) for job in cores], str(path))


def _record(text: bytes, path: Path | str) -> JobsRecord:
    record = parse_json(text, JobsRecord, path, is_strict=True)
    with name_source(path):
        record.placements()
        record.to_placement()
    return record
