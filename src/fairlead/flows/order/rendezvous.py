# SPDX-License-Identifier: Apache-2.0
"""Hosts that meet: where, who listens, and what the others get in the end."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

from fairlead.act.launch.host_names import is_local_host
from fairlead.act.launch.slurm import expand_node_list
from fairlead.decide.expected_gain import Gain
from fairlead.decide.hosts.bad_hosts import BadHost
from fairlead.decide.order import Ordering
from fairlead.errors import InputError, LaunchError
from fairlead.measure.tcp import DEFAULT_PORT, Meeting, listen
from fairlead.model.cluster import Cluster

__all__ = ["Place", "as_json", "join_ordering", "open_meeting", "parse_place", "place_of_step"]

_LARGEST_PORT = 65_535


@dataclasses.dataclass(frozen=True)
class Place:
    """Where hosts meet.

    Attributes:
        address: Name or address of the host that listens, and its port.
        is_own: This is that host.
    """

    address: tuple[str, int]
    is_own: bool


def parse_place(text: str, *, listens: bool) -> Place:
    """A place from HOST or HOST:PORT; who joins at this machine's own name listens there.

    Raises:
        InputError: The port is none.
    """
    host, colon, port = text.rpartition(":") if text.count(":") == 1 else (text, "", "")
    if colon and not (port.isascii() and port.isdecimal() and 0 < int(port) <= _LARGEST_PORT):
        raise InputError(f"{text!r}: the port must be a number from 1 to {_LARGEST_PORT}")
    if not host:
        raise InputError(f"{text!r}: expected HOST or HOST:PORT")
    return Place((host, int(port) if colon else DEFAULT_PORT), listens or is_local_host(host))


def place_of_step(env: Mapping[str, str] | None = None) -> tuple[Place, list[str]] | None:
    """Where the hosts of this step of a Slurm job meet, and their names.

    Returns:
        None outside of a step with one task on each of several hosts.
    """
    env = os.environ if env is None else env
    nodes, count = env.get("SLURM_STEP_NODELIST"), env.get("SLURM_STEP_NUM_NODES", "1")
    if not nodes or count == "1" or env.get("SLURM_STEP_NUM_TASKS") != count:
        return None
    hosts = expand_node_list(nodes, "SLURM_STEP_NODELIST")
    # Two jobs may share a host.
    digits = env.get("SLURM_JOB_ID", "0")
    port = DEFAULT_PORT + (int(digits) % 1000 if digits.isdecimal() else 0)
    return Place((hosts[0], port), env.get("SLURM_NODEID") == "0"), hosts


@contextlib.contextmanager
def open_meeting(
    place: Place, cluster: Cluster | None, num_hosts: int | None, own_name: str, limit_s: float
) -> Iterator[tuple[Meeting, Cluster]]:
    """All hosts of a meeting, with this one as the one that listens.

    Raises:
        Error: Hosts are missing, or this one is not among those that were named.
    """
    if cluster is None:
        assert num_hosts is not None
        with listen(place.address, num_hosts, own_name, limit_s) as meeting:
            yield meeting, Cluster.uniform(meeting.probes.hosts, slots=1)
        return
    if own_name not in cluster.hosts:
        raise LaunchError(f"this machine listens, but is none of {', '.join(cluster.hosts)}")
    with listen(place.address, cluster.hosts, own_name, limit_s) as meeting:
        yield meeting, cluster


def as_json(ordering: Ordering, own: str) -> dict[str, Any]:
    """The order as a host that has joined gets it."""
    facts = dataclasses.asdict(ordering)
    return {**facts, "bad_hosts": [bad.host for bad in ordering.bad_hosts], "own": own}


def join_ordering(facts: Mapping[str, Any]) -> tuple[Ordering, str]:
    """The order that `as_json` has written, and this host's name in it.

    Raises:
        LaunchError: It is not understood.
    """
    try:
        fields = {name: tuple(facts[name]) for name in ("hosts", "slots", "given", "left_out")}
        ordering = Ordering(
            **fields,
            gain=Gain(**facts["gain"]),
            is_rehearsed=bool(facts["is_rehearsed"]),
            bad_hosts=tuple(BadHost(host, ()) for host in facts["bad_hosts"]),
        )
        return ordering, str(facts["own"])
    except (KeyError, TypeError) as error:
        raise LaunchError(f"the host that listens runs another version: {error}") from error
