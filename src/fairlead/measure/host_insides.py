# SPDX-License-Identifier: Apache-2.0
"""The inside of hosts: read and measured by the process that the probe has on each of them."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pydantic

from fairlead.errors import Error, InputError
from fairlead.measure.failed_probe import reason_of
from fairlead.measure.long_trains import long_train_options
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.probe_result import PAIRS_FORMAT, read_document
from fairlead.model.cluster import Cluster
from fairlead.model.cpu_lists import cpus_of_list, list_of_cpus
from fairlead.model.cpu_topology import CpuTopology
from fairlead.model.host_inside import HostInside, LevelRate

__all__ = ["INSIDE_FORMAT", "INSIDE_ORDER", "measure_rates", "pairs_of_levels", "read_insides"]

INSIDE_FORMAT = "fairlead-inside"

INSIDE_ORDER: Mapping[str, Any] = {"inside": {}}
"""What an order has by which each host's topology is read."""

MOST_READERS = 8
"""CPUs of a socket that read memory together: a few already read all that it gives."""

LEAST_READ_BYTES = 16 << 20
MOST_READ_BYTES = 64 << 20

TIMEOUT_S = 60.0
"""Guards against a start that hangs; measuring takes about 0.1 s."""

_Cpu = Annotated[int, pydantic.Field(ge=0, lt=1 << 16)]
_Number = Annotated[float, pydantic.Field(gt=0, allow_inf_nan=False)] | None


class _Topology(pydantic.BaseModel, extra="forbid"):
    node: str
    cpus: list[_Cpu]
    xml: str
    is_own: bool
    problem: str


class _Topologies(pydantic.BaseModel, extra="forbid"):
    """The document with what hosts are."""

    format: Literal["fairlead-inside"]
    version: Literal[1]
    hosts: list[_Topology | None]


class _Times(pydantic.BaseModel, extra="forbid"):
    pairs: list[tuple[_Number, _Number]]
    memory: list[_Number]


class _MeasuredTimes(pydantic.BaseModel, extra="forbid"):
    """The document with what was measured."""

    format: Literal["fairlead-inside"]
    version: Literal[1]
    hosts: list[_Times | None]


def read_insides(printed: str, hosts: Sequence[str]) -> dict[str, HostInside]:
    """The inside of each host, without rates, from what the probe printed.

    Args:
        printed: Standard output of the launcher, which may have lines of its own in it.
        hosts: Host of each rank of the probe.
    """
    try:
        document = read_document(printed, INSIDE_FORMAT, _Topologies, "probe")
    except Error as error:
        return {host: HostInside(problem=str(error)) for host in hosts}
    if document is None or len(document.hosts) != len(hosts):
        return {host: HostInside(problem="the probe did not report it") for host in hosts}
    return dict(zip(hosts, map(_inside_of, document.hosts), strict=True))


def _inside_of(found: _Topology | None) -> HostInside:
    if found is None:
        return HostInside(problem="the probe did not report it")
    if found.problem or not found.xml:
        return HostInside(problem=found.problem or "hwloc gave no topology")
    inside = HostInside(found.xml, list_of_cpus(found.cpus))
    try:
        topology = inside.topology
    except InputError as error:
        return HostInside(problem=str(error))
    if not found.is_own or topology.host_name not in (None, found.node):
        return HostInside(
            problem=f"hwloc's topology is that of another machine than {found.node}: see "
            "HWLOC_XMLFILE and HWLOC_SYNTHETIC"
        )
    return inside


def measure_rates(
    program: ProbeProgram, cluster: Cluster, insides: Mapping[str, HostInside]
) -> dict[str, HostInside]:
    """The same with the rates of all levels on which CPUs of a host differ.

    Hosts measure at the same time, each by itself. What cannot be measured stays unknown, and the
    host's `problem` is why.

    Args:
        program: Gets the order.
        cluster: The hosts on which it runs.
        insides: Inside of these hosts, by their names.
    """
    orders = [_order_of(insides[host]) for host in cluster.hosts]
    if not any(order["pairs"] for order in orders):
        return dict(insides)
    nothing = long_train_options(np.zeros((cluster.num_hosts,) * 2, dtype=bool), 0.0)
    read_bytes = max(
        (insides[host].topology.l3_bytes for host in cluster.hosts if insides[host].xml),
        default=0,
    )
    options = {
        **nothing,
        "inside": {
            "hosts": orders,
            "read_bytes": int(np.clip(2 * read_bytes, LEAST_READ_BYTES, MOST_READ_BYTES)),
        },
    }
    try:
        finished = program.order(
            cluster, options, timeout_s=TIMEOUT_S, formats=[PAIRS_FORMAT, INSIDE_FORMAT]
        )
        document = read_document(finished.stdout, INSIDE_FORMAT, _MeasuredTimes, "probe")
        why = reason_of(finished.stderr)
    except Error as error:
        document, why = None, str(error)
    found: list[_Times | None] = [None] * cluster.num_hosts
    if document is not None:
        is_whole = len(document.hosts) == cluster.num_hosts
        found = document.hosts if is_whole else found
        why = "the probe did not report it"
    measured = dict(insides)
    for host, order, times in zip(cluster.hosts, orders, found, strict=True):
        if times is not None and times.pairs:
            measured[host] = _with_times(insides[host], times)
        elif order["pairs"]:
            measured[host] = dataclasses.replace(insides[host], problem=why)
    return measured


def _order_of(inside: HostInside) -> dict[str, Any]:
    """What one host measures; nothing where all of its CPUs are equally near."""
    if not inside.xml or not inside.topology.levels:
        return {"pairs": [], "memory": []}
    topology, allowed = inside.topology, _cpus_of_job(inside)
    pairs = pairs_of_levels(topology, allowed)
    return {
        "pairs": [[*pair] for pair in pairs.values()],
        "memory": [
            _readers(topology, socket & allowed) for socket in _used_sockets(topology, allowed)
        ],
    }


def _with_times(inside: HostInside, times: _Times) -> HostInside:
    topology, allowed = inside.topology, _cpus_of_job(inside)
    rates = {
        name: LevelRate(latency_s, bandwidth_Bps)
        for name, (latency_s, bandwidth_Bps) in zip(
            pairs_of_levels(topology, allowed), times.pairs, strict=False
        )
        if latency_s is not None and bandwidth_Bps is not None
    }
    reads = dict(zip(_used_sockets(topology, allowed), times.memory, strict=False))
    found_Bps = [reads.get(socket) for socket in topology.sockets()]
    memory_Bps = tuple(math.nan if value is None else value for value in found_Bps)
    return dataclasses.replace(inside, rates=rates, memory_Bps=memory_Bps)


def pairs_of_levels(topology: CpuTopology, allowed: frozenset[int]) -> dict[str, tuple[int, int]]:
    """Two CPUs of different cores for each level that allowed CPUs have, by the level's name.

    Levels without two such CPUs are missing.
    """
    firsts = [min(core & allowed) for core in topology.cores if core & allowed]
    found: dict[str, tuple[int, int]] = {}
    names = topology.level_names
    for first, second in itertools.combinations(firsts, 2):
        if len(found) == len(names):
            break
        found.setdefault(names[topology.common_level(frozenset((first, second)))], (first, second))
    return {name: found[name] for name in names if name in found}


def _cpus_of_job(inside: HostInside) -> frozenset[int]:
    return cpus_of_list(inside.cpus)


def _used_sockets(topology: CpuTopology, allowed: frozenset[int]) -> list[frozenset[int]]:
    """Sockets with CPUs that may be used."""
    return [socket for socket in topology.sockets() if socket & allowed]


def _readers(topology: CpuTopology, cpus: frozenset[int]) -> list[int]:
    """A CPU each of some cores, spread over the socket."""
    firsts = sorted(min(core & cpus) for core in topology.cores if core & cpus)
    chosen = np.unique(np.linspace(0, len(firsts) - 1, min(MOST_READERS, len(firsts))).astype(int))
    return [firsts[at] for at in chosen]
