# SPDX-License-Identifier: Apache-2.0
"""The ends of the lab's cables: the eth0 of each host and of the head node."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pyroute2 import IPRoute

from fairlead.lab.addresses import NETWORK

__all__ = ["End", "index_of", "introduce"]


@dataclasses.dataclass(frozen=True)
class End:
    """An eth0 that is up.

    Attributes:
        netlink: Connection in the host's network.
        eth0: Number of the interface.
        address: Its IPv4 address.
        hardware: Its Ethernet address.
    """

    netlink: IPRoute
    eth0: int
    address: str
    hardware: str

    @classmethod
    def configure(cls, netlink: IPRoute, address: str) -> End:
        """Bring a host's interfaces up."""
        eth0 = index_of(netlink, "eth0")
        netlink.addr("add", index=eth0, address=address, prefixlen=NETWORK.prefixlen)
        for index in (1, eth0):
            netlink.link("set", index=index, state="up")
        return cls(netlink, eth0, address, str(netlink.get_links(eth0)[0].get("address")))

    def send_by(self, address: str, hardware: str) -> None:
        """Set a permanent neighbour entry: an IPv4 address and its Ethernet address."""
        self.netlink.neigh(
            "replace", ifindex=self.eth0, dst=address, lladdr=hardware, state="permanent"
        )


def introduce(ends: Sequence[End]) -> None:
    """Set the Ethernet addresses of all others on every host.

    All namespaces of a machine share one table of learnt addresses (1024 by default). With 32 hosts
    that all communicate, it overflows, and connections fail at random. Permanent entries do not
    count. They also save the first message the time of learning an address.
    """
    for end in ends:
        for other in ends:
            if other is not end:
                end.send_by(other.address, other.hardware)


def index_of(netlink: IPRoute, name: str) -> int:
    """Number of an interface."""
    return int(netlink.link_lookup(ifname=name)[0])
