# SPDX-License-Identifier: Apache-2.0
"""Bytes of large messages in a run with relays, by path, from the files of its processes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pydantic

from fairlead.watch.run_records import read_records

__all__ = ["LearnedPath", "OfProcess", "RelayTraffic", "load_relay_traffic", "of_processes"]

_Natural = Annotated[int, pydantic.Field(ge=0)]
_Positive = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)]


class LearnedPath(NamedTuple):
    """What acks reported last of a path, in the mean of the bytes that it carried.

    Attributes:
        latency_s: That of the plan, and what frames waited at routers for those of others.
        rate_Bps: Rate of one connection of one process; others may have shared the path.
    """

    latency_s: float
    rate_Bps: float


@dataclasses.dataclass(frozen=True)
class RelayTraffic:
    """Bytes of messages between hosts that may be relayed; what was sent again counts again.

    Not among them is what the MPI carries for persistent requests.

    Attributes:
        by_mpi: By the indices of the sending and the receiving host.
        by_routers: By the indices of the hosts on the way, from the sending to the receiving one.
        learned: What was learned of these paths, where anything was.
    """

    by_mpi: Mapping[tuple[int, int], int]
    by_routers: Mapping[tuple[int, ...], int]
    learned: Mapping[tuple[int, ...], LearnedPath] = dataclasses.field(default_factory=dict)

    @property
    def mpi_bytes(self) -> int:
        """All that the MPI carried."""
        return sum(self.by_mpi.values())

    @property
    def routers_bytes(self) -> int:
        """All that routers carried."""
        return sum(self.by_routers.values())

    @property
    def relayed_bytes(self) -> int:
        """What went by third hosts."""
        return sum(size for path, size in self.by_routers.items() if len(path) > 2)

    @property
    def busiest_relayed_path(self) -> tuple[int, ...] | None:
        """That by third hosts which carried most; None without one."""
        relayed = [path for path in self.by_routers if len(path) > 2]
        return max(relayed, key=self.by_routers.__getitem__, default=None)


class _ByMpi(pydantic.BaseModel, extra="forbid"):
    dst: _Natural
    bytes: _Natural


class _Path(pydantic.BaseModel, extra="forbid"):
    hops: Annotated[tuple[_Natural, ...], pydantic.Field(min_length=1)]
    bytes: _Natural
    latency_s: _Positive | None = None
    rate_Bps: _Positive | None = None


class _Use(pydantic.BaseModel, extra="forbid"):
    hops: Annotated[tuple[_Natural, ...], pydantic.Field(min_length=1)]
    use: Literal["found", "open", "standard"]


class _Link(pydantic.BaseModel, extra="forbid"):
    src: _Natural
    dst: _Natural
    segment_s: _Positive


class OfProcess(pydantic.BaseModel, extra="forbid"):
    """What one process leaves.

    Attributes:
        src: Its host.
        by_mpi, paths: What carried its messages.
        table: With the rule "mcm", its path table at the end.
        links: With the rule "mcm", what segments took from host to host.
    """

    src: _Natural
    by_mpi: tuple[_ByMpi, ...]
    paths: tuple[_Path, ...]
    table: tuple[_Use, ...] = ()
    links: tuple[_Link, ...] = ()

    def hosts(self) -> set[int]:
        """All that it names."""
        dsts = [each.dst for each in self.by_mpi]
        ends = [host for link in self.links for host in (link.src, link.dst)]
        hops = [hop for row in self.table for hop in row.hops]
        hops += [hop for path in self.paths for hop in path.hops]
        return {self.src, *dsts, *ends, *hops}


def of_processes(folder: Path, num_hosts: int) -> list[OfProcess]:
    """The files in this folder; one that names hosts which the run has not counts as missing."""
    return [
        process
        for process in read_records(folder, "relay", OfProcess)
        if max(process.hosts()) < num_hosts
    ]


def load_relay_traffic(folder: Path, num_hosts: int) -> RelayTraffic | None:
    """The sum over all processes that left a file in this folder; None without one.

    A file that names hosts which the run has not counts as missing.
    """
    processes = of_processes(folder, num_hosts)
    if not processes:
        return None
    by_mpi: Counter[tuple[int, int]] = Counter()
    paths_of: dict[tuple[int, ...], list[_Path]] = {}
    for process in processes:
        for each in process.by_mpi:
            by_mpi[process.src, each.dst] += each.bytes
        for path in process.paths:
            paths_of.setdefault((process.src, *path.hops), []).append(path)
    by_routers = {hosts: sum(path.bytes for path in paths) for hosts, paths in paths_of.items()}
    learned = {hosts: found for hosts, paths in paths_of.items() if (found := _mean(paths))}
    return RelayTraffic(by_mpi, by_routers, learned)


def _mean(paths: Sequence[_Path]) -> LearnedPath | None:
    """That of the processes, and their connections, that share a path and have learned of it."""
    known = [
        (path.bytes, path.latency_s, path.rate_Bps)
        for path in paths
        if path.bytes > 0 and path.latency_s is not None and path.rate_Bps is not None
    ]
    if not known:
        return None
    sizes_bytes, latencies_s, rates_Bps = np.array(known).T
    return LearnedPath(
        float(np.average(latencies_s, weights=sizes_bytes)),
        float(np.average(rates_Bps, weights=sizes_bytes)),
    )
