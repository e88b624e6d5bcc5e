# SPDX-License-Identifier: Apache-2.0
"""Groups of hosts in a measured network: racks, and racks inside them where there are some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairlead.measure.racks import racks
from fairlead.model.host_groups import WHOLE, HostGroups
from fairlead.model.network import Network

__all__ = ["measured_groups"]

MOST_LEVELS = 3
"""Levels below the whole network: no form that is written names more than three tiers."""


def measured_groups(network: Network) -> HostGroups:
    """Hosts in groups of which the measurement shows that they are near.

    Returns:
        A group of all hosts, and below it as many levels as the measurement shows, with a line if
        it shows none. Groups are numbered by their first hosts.
    """
    found = dict(_groups(network, list(network.hosts), (WHOLE,)))
    has_groups = any(len(groups) > 1 for groups in found.values())
    problems = [] if has_groups else ["the measurement shows no groups of near hosts"]
    return HostGroups(
        {host: found[host] for host in network.hosts},
        {"measured in": network.source, **network.origin},
        problems,
    )


def _groups(
    network: Network, hosts: Sequence[str], above: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    part = network.select(hosts)
    found = racks(part) if len(above) <= MOST_LEVELS else []
    if not found:
        yield from ((host, above) for host in hosts)
        return
    prefix = "group" if len(above) == 1 else f"{above[-1]}-"
    for number, rack in enumerate(found, 1):
        inside = [hosts[index] for index in rack]
        yield from _groups(network, inside, (*above, f"{prefix}{number}"))
