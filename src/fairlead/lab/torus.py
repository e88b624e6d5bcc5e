# SPDX-License-Identifier: Apache-2.0
"""The lab's network as a torus: a namespace for each router, with routes in order of dimensions.

    h0 eth0 --- h0 [router 0,0,0] X+ --- X- [router 1,0,0] X+ --- X- [router 2,0,0] ...
    h1 eth0 --- h1 [            ] Y+ --- Y- [router 0,1,0] ...

Each router sends a packet on by its destination alone: which is what order of dimensions needs. A
link is shaped where it leaves a router, a host's interface at both of its ends. The head node is on
the first router; its packets are not shaped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pyroute2 import IPRoute

from fairlead.lab.addresses import LOGIN, NETWORK, address_of_host, login_address
from fairlead.lab.delaying import DelayBy
from fairlead.lab.ends import index_of
from fairlead.lab.namespaces import in_network_of
from fairlead.lab.shaping import MTU_BYTES, Shaper
from fairlead.lab.topology import Topology
from fairlead.lab.wiring import Wiring
from fairlead.model.topology import TorusRoutes
from fairlead.model.topology.routes import NO_LINK

__all__ = ["SYSCTLS_OF_ROUTERS", "TorusWiring"]

SYSCTLS_OF_ROUTERS = {
    "net/ipv4/ip_forward": "1",
    # A packet comes back by another way than it went.
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv4/conf/default/send_redirects": "0",
}

_GATEWAY = "169.254.0.1"
"""Stands for the other end of a cable on each interface: no router has an address."""
_ONLINK = 4
"""RTNH_F_ONLINK of <linux/rtnetlink.h>."""


@dataclasses.dataclass(frozen=True)
class _Interface:
    """One end of a cable."""

    netlink: IPRoute
    index: int
    hardware: str

    @classmethod
    def named(cls, netlink: IPRoute, name: str) -> _Interface:
        index = index_of(netlink, name)
        netlink.link("set", index=index, state="up")
        return cls(netlink, index, str(netlink.get_links(index)[0].get("address")))

    def send_to(self, other: _Interface) -> None:
        """Let the gateway of this interface be the other end of its cable."""
        self.netlink.neigh(
            "replace", ifindex=self.index, dst=_GATEWAY, lladdr=other.hardware, state="permanent"
        )

    def carry(self, address: str, length: int = 32) -> None:
        """Let packets to these addresses leave by this interface."""
        self.netlink.route(
            "add", dst=f"{address}/{length}", gateway=_GATEWAY, oif=self.index, flags=_ONLINK
        )


class TorusWiring(Wiring):
    """The built torus, and the shapers that hold its rates.

    Attributes:
        interface_of_link: Router and number of the interface that each link leaves by.
    """

    def __init__(self, topology: Topology, pid_of_host: Mapping[str, int]) -> None:
        """Build everything.

        Args:
            topology: What to build.
            pid_of_host: A process in the namespaces of each host, each router and the head node.
        """
        assert topology.torus is not None
        self._topology = topology
        self._torus = topology.torus
        self._pids = pid_of_host
        self._switch = IPRoute()
        self._netlink = {name: _enter(pid) for name, pid in pid_of_host.items()}
        for netlink in self._netlink.values():
            # Its address makes the table of addresses, without which no gateway is accepted.
            netlink.link("set", index=1, state="up")
        self.delay_by, self.delay_line = DelayBy.nothing, None
        self._egress, self._ingress = [], []
        self._leaving = [self._add_host(index) for index in range(topology.num_hosts)]
        self._leaving.append(self._add_login())
        self.interface_of_link: list[tuple[str, int]] = []
        links = self._add_links()
        self._add_routes(links)
        self.set_pairs(topology.pair_Bps)

    def _join(self, one: str, name: str, other: str, peer: str) -> tuple[_Interface, _Interface]:
        ends = {"mtu": MTU_BYTES, "gso_max_segs": 1}
        spaces = [f"/proc/{self._pids[end]}/ns/net" for end in (one, other)]
        self._switch.link(
            "add", ifname=name, kind="veth", net_ns_fd=spaces[0], **ends,
            peer={"ifname": peer, "net_ns_fd": spaces[1], **ends},
        )  # fmt: skip
        first = _Interface.named(self._netlink[one], name)
        second = _Interface.named(self._netlink[other], peer)
        first.send_to(second)
        second.send_to(first)
        return first, second

    def _add_end(self, host: str, router: str, address: str) -> tuple[_Interface, _Interface]:
        """Connect a host or the head node to its router."""
        port, eth0 = self._join(router, host, host, "eth0")
        eth0.netlink.addr("add", index=eth0.index, address=address, prefixlen=32)
        eth0.carry(str(NETWORK.network_address), NETWORK.prefixlen)
        return port, eth0

    def _add_host(self, index: int) -> _Interface:
        host, router = self._topology.hosts[index], self._torus.router_of_host[index]
        port, eth0 = self._add_end(host, router, address_of_host(index))
        rate_Bps = self._topology.nic_Bps[index]
        self._egress.append(Shaper(eth0.netlink, eth0.index, rate_Bps))
        self._ingress.append(Shaper(port.netlink, port.index, rate_Bps))
        return port

    def _add_login(self) -> _Interface:
        return self._add_end(LOGIN, self._torus.router_of_host[0], login_address())[0]

    def _add_links(self) -> list[_Interface]:
        """Both directions of each cable between routers."""
        links = self._torus.links
        number = {port: link for link, port in enumerate(links.out_ports)}
        ends: dict[int, _Interface] = {}
        for link, (out_port, in_port) in enumerate(
            zip(links.out_ports, links.in_ports, strict=True)
        ):
            if not out_port.endswith("+"):
                continue
            (src, name), (dst, peer) = out_port.split(), in_port.split()
            ends[link], ends[number[in_port]] = self._join(src, name, dst, peer)
        for link, end in sorted(ends.items()):
            Shaper(end.netlink, end.index, float(links.capacity_Bps[link]))
            self.interface_of_link.append((links.out_ports[link].split()[0], end.index))
        return [ends[link] for link in range(links.num_links)]

    def _add_routes(self, links: list[_Interface]) -> None:
        """Let each router know by which interface it reaches each host, and the head node."""
        routes = self._torus.routes
        assert isinstance(routes, TorusRoutes)
        addresses = [address_of_host(index) for index in range(self._topology.num_hosts)]
        own = {router: host for host, router in enumerate(self._torus.router_of_host)}
        for router, on_it in own.items():
            # The head node is reached as the first host is.
            for target, address in enumerate([*addresses, login_address()]):
                host = target if target < len(addresses) else 0
                way = routes.route(on_it, host)
                assert NO_LINK not in way
                if self._torus.router_of_host[host] == router:
                    self._leaving[target].carry(address)
                else:
                    links[int(way[0])].carry(address)


def _enter(pid: int) -> IPRoute:
    with in_network_of(pid):
        return IPRoute()
