# SPDX-License-Identifier: Apache-2.0
"""On which machines hosts are: where planned, and which are one machine under several names.

Launchers start ranks on each alias of a machine, so that is no error, but its slots count twice,
and the pair is the nearest of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fairlead.errors import ProbeError
from fairlead.model.network import Network

__all__ = ["ORIGIN_KEY", "describe_one_machine", "group_by_machine", "require_planned_hosts"]

ORIGIN_KEY = "one_machine"


def group_by_machine(hosts: Sequence[str], identities: Sequence[int]) -> dict[str, Any]:
    """What the origin of a network says of hosts that are one machine; empty where none are.

    Args:
        hosts: Host of each process that measured.
        identities: Equal for processes on one host; 0 where it is unknown.
    """
    names: dict[int, list[str]] = {}
    for host, identity in zip(hosts, identities, strict=False):
        if identity:
            names.setdefault(identity, []).append(host)
    groups = [group for group in names.values() if len(group) > 1]
    return {ORIGIN_KEY: groups} if groups else {}


def describe_one_machine(network: Network) -> list[str]:
    """A line for each machine that has several names among the hosts of a network."""
    lines = []
    for group in network.origin.get(ORIGIN_KEY, ()):
        there = [repr(host) for host in group if host in network.hosts]
        if len(there) > 1:
            named = f"{', '.join(there[:-1])} and {there[-1]}"
            lines.append(f"hosts {named} are one machine; name it once, with all its slots")
    return lines


def require_planned_hosts(hosts: Sequence[str], node_names: Sequence[str]) -> None:
    """Check that processes ran on the hosts that they were planned for.

    Args:
        hosts: Host that each process was planned for.
        node_names: What the machine on which it ran calls itself; empty where it is lost.

    Raises:
        ProbeError: One ran on a machine that is another of the hosts.
    """
    hosts_of = {host: [host] for host in hosts}
    for host in hosts:
        if (short := host.partition(".")[0]) != host:
            hosts_of.setdefault(short, []).append(host)
    for host, name in zip(hosts, node_names, strict=True):
        # Names of two sites may begin alike, and machines may leave out their domain.
        meant = hosts_of.get(name) or hosts_of.get(name.partition(".")[0]) or [host]
        if host not in meant:
            raise ProbeError(
                f"the process for host {host!r} was started on {meant[0]!r}: either both are names "
                "of one machine, which is to be named once, or the launcher did not follow the "
                "placement; look for settings that overrule it"
            )
