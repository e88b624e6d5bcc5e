# SPDX-License-Identifier: Apache-2.0
"""Several jobs that share a machine, and the TOML files that describe them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fairlead.errors import InputError, TopologyError
from fairlead.files import toml_files
from fairlead.files.naming import name_source
from fairlead.files.package_folders import data_folder
from fairlead.simulation.job import Integers, Job
from fairlead.simulation.machine import Machine
from fairlead.simulation.workload_file import WorkloadFile, read_machine_file, read_workload_file

__all__ = ["Workload", "packaged_workloads"]

_PACKAGED = data_folder("simulation/workloads")


@dataclasses.dataclass(frozen=True, eq=False)
class Workload:
    """Jobs in the order in which they were submitted, and the machine they share.

    Attributes:
        name: Its name in reports.
        jobs: At least one.
        machine: Must have a free core for each rank.
        rate_per: Whether rates and counts of patterns are per pair or per process (`RATE_PER`), for
            reports; None where the jobs do not come from a file.
    """

    name: str
    jobs: Sequence[Job]
    machine: Machine = dataclasses.field(default_factory=Machine)
    rate_per: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "jobs", tuple(self.jobs))
        if not self.jobs:
            raise InputError(f"workload {self.name!r}: at least one job is needed")
        _require_room(self.name, self.num_ranks, self.machine)

    @property
    def num_ranks(self) -> int:
        """Ranks of all jobs."""
        return sum(job.num_ranks for job in self.jobs)

    @property
    def num_messages(self) -> int:
        """Messages of all jobs."""
        return sum(int(job.num_messages.sum()) for job in self.jobs)

    def by_job(self, value_of_rank: Integers) -> list[Integers]:
        """What all ranks got, job by job, an array of shape (T,) each; the rest is left out."""
        ends = np.cumsum([job.num_ranks for job in self.jobs])
        return np.split(value_of_rank[: ends[-1]], ends[:-1])

    def scaled(self, scale: float) -> Workload:
        """The same rates for a part of the time; see `Job.scaled`."""
        return dataclasses.replace(self, jobs=[job.scaled(scale) for job in self.jobs])

    @classmethod
    def load(
        cls,
        source: str | Path,
        *,
        rate_per: str | None = None,
        compute_Mops: float | None = None,
        machine_file: str | Path | None = None,
    ) -> Workload:
        """Read a workload that comes with Fairlead (by name) or a TOML file (by path).

        Args:
            source: "Synt_workload_1", or the path of a TOML file.
            rate_per: Meaning of rates and counts (`RATE_PER`), instead of the file's.
            compute_Mops: Compute speed of a core, instead of the file's.
            machine_file: A TOML file with a table `[machine]`, instead of the workload's.

        Raises:
            InputError: There is no such workload, or a field of it is wrong; the message names
                file and field.
        """
        path = toml_files.find(source, _PACKAGED, "workload")
        table = read_workload_file(path)
        if machine_file is not None:
            table = table.model_copy(update={"machine": read_machine_file(Path(machine_file))})
        with name_source(path):
            return _build(table, path, rate_per or table.rate_per, compute_Mops)


def packaged_workloads() -> list[str]:
    """Names of the workloads that come with Fairlead."""
    return toml_files.names(_PACKAGED)


def _build(table: WorkloadFile, path: Path, rate_per: str, compute_Mops: float | None) -> Workload:
    machine = table.machine.build()
    if compute_Mops is not None:
        machine = dataclasses.replace(machine, compute_Mops=compute_Mops)
    name = table.name or path.stem
    # Checked before any job is built: all pairs of too many processes would fill the memory.
    _require_room(name, sum(job.processes or 0 for job in table.jobs), machine)
    jobs = [
        job.build(f"jobs[{index}]", path.parent, machine, rate_per)
        for index, job in enumerate(table.jobs)
    ]
    return Workload(name, jobs, machine, rate_per)


def _require_room(name: str, num_ranks: int, machine: Machine) -> None:
    free = len(machine.free_cores())
    if num_ranks > free:
        raise TopologyError(
            f"workload {name!r}: {num_ranks} processes do not fit on {free} free cores of "
            f"{machine.num_cores}"
        )
