# SPDX-License-Identifier: Apache-2.0
"""The fields of workload files, of `workloads/` and of users."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fairlead.errors import InputError
from fairlead.files.naming import name_source
from fairlead.files.toml_files import read_toml
from fairlead.measure.traffic_files import load_traffic
from fairlead.model.traffic import Traffic
from fairlead.simulation.job import Job, RatePer
from fairlead.simulation.machine import Machine
from fairlead.simulation.recordings import load_recording
from fairlead.units import SPREAD_SIZES, parse_duration, parse_rate, parse_size

__all__ = [
    "MachineTable",
    "WorkloadFile",
    "parse_message_size",
    "read_machine_file",
    "read_workload_file",
]


def parse_message_size(text: str) -> int:
    """Bytes from text such as "64KiB"; "64KB" is the same here, as in SPREAD.

    Raises:
        InputError: The text is not a number with a unit of size, or not a whole number of bytes.
    """
    return parse_size(text, SPREAD_SIZES)


def _text_of(parse: Any, example: str) -> BeforeValidator:
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"expected text such as {example!r}, got {value!r}")  # noqa: TRY004
        try:
            return parse(value)
        except InputError as error:
            raise ValueError(str(error)) from error

    return BeforeValidator(read)


Size = Annotated[int, _text_of(parse_message_size, "64KiB")]
Rate = Annotated[float, _text_of(parse_rate, "1GB/s")]
Duration = Annotated[float, _text_of(parse_duration, "100ns")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class MachineTable(_Table):
    """`[machine]`: the defaults are those of SPREAD's table 1."""

    nodes: int = Machine.nodes
    sockets: int = Machine.sockets
    cores: int = Machine.cores
    nic: Rate = Machine.nic_Bps
    memory: Rate = Machine.memory_Bps
    remote_memory_ratio: float = Machine.remote_memory_ratio
    cache: Rate = Machine.cache_Bps
    largest_cache: Size = Machine.largest_cache_bytes
    switch: Duration = Machine.switch_s
    compute_Mops: float = Machine.compute_Mops
    taken: list[int] = []
    node_speeds: dict[str, float] = {}
    """By the number of the node, which TOML writes as text."""

    @model_validator(mode="after")
    def _can_be(self) -> MachineTable:
        try:
            self.build()
        except InputError as error:
            raise ValueError(str(error)) from error
        return self

    def build(self) -> Machine:
        """The machine that the table describes."""
        return Machine(
            nodes=self.nodes,
            sockets=self.sockets,
            cores=self.cores,
            nic_Bps=self.nic,
            memory_Bps=self.memory,
            remote_memory_ratio=self.remote_memory_ratio,
            cache_Bps=self.cache,
            largest_cache_bytes=self.largest_cache,
            switch_s=self.switch,
            compute_Mops=self.compute_Mops,
            taken=tuple(self.taken),
            node_speeds=_by_node(self.node_speeds),
        )


def _by_node(speeds: dict[str, float]) -> dict[int, float]:
    """The speeds by numbers of nodes.

    Raises:
        InputError: A name is no number.
    """
    for name in speeds:
        if not name.isdecimal():
            raise InputError(f"node_speeds: expected the number of a node, got {name!r}")
    return {int(name): speed for name, speed in speeds.items()}


class JobTable(_Table):
    """`[[jobs]]`: a pattern with its numbers, a packaged recording, or a `.traffic.npz` file."""

    name: str | None = None
    processes: int | None = None
    pattern: str | None = None
    message: Size | None = None
    rate: float | None = None
    count: int | None = None
    recording: str | None = None
    traffic: str | None = None
    run_time: Duration | None = None
    """Run time of a traffic file, instead of its own."""

    @model_validator(mode="after")
    def _one_kind(self) -> JobTable:
        kinds = [self.pattern, self.recording, self.traffic]
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("needs one of pattern, recording and traffic")
        numbers = {"message": self.message, "rate": self.rate, "count": self.count}
        for field, value in numbers.items():
            if (value is None) == (self.pattern is not None):
                wrong = "is missing" if value is None else "belongs to a pattern"
                raise ValueError(f"{field} {wrong}")
        if self.pattern is not None and self.processes is None:
            raise ValueError("processes is missing")
        if self.run_time is not None and self.traffic is None:
            raise ValueError("run_time belongs to traffic; compute_Mops sets that of recordings")
        return self

    def build(self, where: str, folder: Path, machine: Machine, rate_per: str) -> Job:
        """The job that the table describes; `where` names it in errors.

        Raises:
            InputError: The pattern, recording or file is not usable, or has other ranks.
        """
        with name_source(where):
            return self._built(folder, machine, rate_per)

    def _built(self, folder: Path, machine: Machine, rate_per: str) -> Job:
        if self.pattern is not None:
            assert self.processes is not None and self.message is not None  # checked on reading
            assert self.rate is not None and self.count is not None
            return Job.from_pattern(
                self.pattern,
                self.processes,
                message_bytes=self.message,
                rate_per_s=self.rate,
                num_messages=self.count,
                rate_per=rate_per,
                name=self.name,
            )
        if self.recording is not None:
            recording = load_recording(self.recording)
            self._check_ranks(recording.traffic, f"recording {self.recording!r}")
            run_time_s = recording.mop / (machine.compute_Mops * recording.traffic.num_ranks)
            return Job.from_traffic(recording.traffic, run_time_s, self.name or self.recording)
        assert self.traffic is not None
        path = folder / self.traffic
        traffic = load_traffic(path)
        self._check_ranks(traffic, str(path))
        run_time_s = traffic.run_time_s if self.run_time is None else self.run_time
        if math.isnan(run_time_s):
            raise InputError(f"{path}: holds no run time; give one as run_time")
        name = self.name or Path(self.traffic).name.removesuffix(".traffic.npz")
        return Job.from_traffic(traffic, run_time_s, name)

    def _check_ranks(self, traffic: Traffic, source: str) -> None:
        if self.processes not in (None, traffic.num_ranks):
            raise InputError(
                f"{source}: has {traffic.num_ranks} ranks, but the job {self.processes} processes"
            )


class WorkloadFile(_Table):
    """All fields of a file."""

    name: str | None = None
    rate_per: RatePer = "pair"
    machine: MachineTable = MachineTable()
    jobs: list[JobTable] = Field(min_length=1)


class _MachineFile(_Table):
    """A file about the machine alone."""

    machine: MachineTable


def read_workload_file(path: Path) -> WorkloadFile:
    """Read a file and check each of its fields.

    Raises:
        InputError: The file is not readable, or a field is wrong; the message names both.
    """
    return read_toml(path, WorkloadFile)


def read_machine_file(path: Path) -> MachineTable:
    """Read a file whose only table is `[machine]`; errors as for `read_workload_file`."""
    return read_toml(path, _MachineFile).machine
