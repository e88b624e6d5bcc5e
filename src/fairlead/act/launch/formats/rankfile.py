# SPDX-License-Identifier: Apache-2.0
"""Open MPI's rankfile, in the two dialects of Open MPI 4 and 5."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fairlead.act.launch.formats._format import Cores, Format, bad_line, join, lines_of
from fairlead.errors import InputError, TopologyError
from fairlead.model.cluster import Cluster
from fairlead.model.placement import Placement

_NUMBER_OR_RANGE = r"\d{1,6}(?:-\d{1,6})?"
_LINE = re.compile(
    rf"rank\s+(?P<rank>\d{{1,9}})\s*=\s*(?P<host>[^\s=]+)"
    rf"(?:\s+slot\s*=\s*(?P<slot>{_NUMBER_OR_RANGE}(?::{_NUMBER_OR_RANGE})?))?",
    re.ASCII,
)


def _render_4(placement: Placement, cluster: Cluster, cores: Cores) -> str:
    if cores.lists is not None:
        return join(_render_lists(placement, cores.lists))
    # slot= is mandatory in Open MPI 4, and it binds. Only by naming all cores of the host can a
    # rank be placed without binding: slot=* and slot=pN silently mean core 0.
    if cores.of_rank is not None:
        return join([*_render_cores(placement, cores)])
    slots = dict(zip(cluster.hosts, cluster.slots, strict=True))
    names = placement.host_names()
    last_core = {host: (cores.per_host or slots[host]) - 1 for host in names}
    return join(
        [
            f"rank {rank}={host} slot=0-{last_core[host]}"
            if last_core[host]
            else f"rank {rank}={host} slot=0"
            for rank, host in enumerate(names)
        ]
    )


def _render_5(placement: Placement, _cluster: Cluster, cores: Cores) -> str:
    if cores.lists is not None:
        return join(_render_lists(placement, cores.lists))
    # Open MPI 5 leaves a rank without slot= unbound, and treats two ranks with the same slot=0-N as
    # an oversubscribed host.
    if cores.of_rank is not None:
        return join([*_render_cores(placement, cores)])
    if cores.per_host is not None:
        raise InputError("rankfile5 names no cores of a host: ranks without slot= are not bound")
    return join([f"rank {rank}={host}" for rank, host in enumerate(placement.host_names())])


def _render_lists(placement: Placement, lists: Sequence[str]) -> list[str]:
    """Lines with the cores of each rank by their numbers in hwloc's order."""
    return [
        f"rank {rank}={host} slot={cores}"
        for rank, (host, cores) in enumerate(zip(placement.host_names(), lists, strict=True))
    ]


def _render_cores(placement: Placement, cores: Cores) -> list[str]:
    given = list(cores.of_rank or ())
    if len(given) != placement.num_ranks:
        raise InputError(f"{len(given)} cores for {placement.num_ranks} ranks; one each is needed")
    taken: dict[tuple[str, int, int], int] = {}
    for rank, (host, (socket, core)) in enumerate(zip(placement.host_names(), given, strict=True)):
        if socket < 0 or core < 0:
            raise InputError(f"rank {rank}: socket and core must be >= 0, got {socket}:{core}")
        other = taken.setdefault((host, socket, core), rank)
        if other != rank:
            raise TopologyError(
                f"ranks {other} and {rank} are both bound to core {socket}:{core} of {host!r}; "
                "Open MPI 4 would not even warn"
            )
    return [
        f"rank {rank}={host} slot={socket}:{core}"
        for rank, (host, (socket, core)) in enumerate(
            zip(placement.host_names(), given, strict=True)
        )
    ]


def _parse_4(text: str, _cluster: Cluster) -> list[str]:
    return _parse(text, needs_slot=True)


def _parse_5(text: str, _cluster: Cluster) -> list[str]:
    return _parse(text, needs_slot=False)


def _parse(text: str, needs_slot: bool) -> list[str]:
    host_of_rank: dict[int, str] = {}
    for number, line in lines_of(text):
        found = _LINE.fullmatch(line)
        if not found or (needs_slot and not found["slot"]):
            raise bad_line(number, line, "'rank I=HOST slot=0-N' or 'slot=SOCKET:CORE'")
        rank = int(found["rank"])
        if rank in host_of_rank:
            raise InputError(f"{number}: rank {rank} is placed twice")
        host_of_rank[rank] = found["host"]
    for rank in range(len(host_of_rank)):
        if rank not in host_of_rank:
            raise InputError(f"rank {rank} is missing; {len(host_of_rank)} ranks are placed")
    return [host_of_rank[rank] for rank in range(len(host_of_rank))]


RANKFILE = Format(
    name="rankfile",
    summary="rankfile of Open MPI 4; ranks may use all cores of their host",
    render=_render_4,
    parse=_parse_4,
    usage=lambda path, num_ranks: f"mpirun --rankfile {path} -n {num_ranks} PROGRAM",
    binds=True,
    takes_lists=True,
)

RANKFILE_5 = Format(
    name="rankfile5",
    summary="rankfile of Open MPI 5; ranks are not bound to cores",
    render=_render_5,
    parse=_parse_5,
    usage=lambda path, num_ranks: (
        f"mpirun --hostfile HOSTFILE --map-by rankfile:file={path} -n {num_ranks} PROGRAM"
    ),
    binds=True,
    takes_lists=True,
)
