# SPDX-License-Identifier: Apache-2.0
"""The order of hosts in heatmaps: hosts behind one bottleneck, and near hosts, together."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from fairlead.measure.racks import racks as racks_of
from fairlead.model.network import Network
from fairlead.report.contention_view import sides_of_groups


class HostOrder(NamedTuple):
    """All hosts of a network in the order of its heatmaps.

    Attributes:
        hosts: Their positions in the network; in the given order if nothing separates them.
        racks: Positions of the hosts of each rack found; see `racks.racks`.
    """

    hosts: list[int]
    racks: list[list[int]]

    @classmethod
    def of(cls, network: Network) -> HostOrder:
        """Hosts on the same sides of all shared bottlenecks together; within them, by rack."""
        found = racks_of(network)
        rack_of = {host: number for number, rack in enumerate(found) for host in rack}
        sides = sides_of_groups(network)
        hosts = sorted(
            range(network.num_hosts), key=lambda host: (sides[host], rack_of.get(host, 0), host)
        )
        return cls(hosts, found)

    def parts(self) -> list[tuple[int, int]]:
        """First and last place of each row of hosts of one rack; one part without racks."""
        rack_of = {host: number for number, rack in enumerate(self.racks) for host in rack}
        parts, place = [], 0
        for _, members in itertools.groupby(self.hosts, key=lambda host: rack_of.get(host, -1)):
            length = len(list(members))
            parts.append((place, place + length - 1))
            place += length
        return parts

    def rack_runs(self) -> list[tuple[int, int]]:
        """The parts that are racks of two hosts or more, which get a frame."""
        return [part for part in self.parts() if part[1] > part[0]] if self.racks else []
