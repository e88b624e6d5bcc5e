# SPDX-License-Identifier: Apache-2.0
"""The lab's network: interfaces, switches and cables, built from a topology.

    h0 eth0 --- port0 [rack0] uplink0 --- downlink0 [core] --- portL --- eth0 login
    h1 eth0 --- port1 [     ]                        [    ] downlink1 --- uplink1 [rack1] ...

What leaves a host is shaped at its eth0, what reaches it at its port, what leaves a rack at its
uplink and what enters it at its downlink. Without racks all ports are on the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyroute2 import IPRoute

from fairlead.lab.addresses import LOGIN, NETWORK, address_of_host, login_address
from fairlead.lab.namespaces import in_network_of
from fairlead.lab.shaping import MTU_BYTES, Shaper
from fairlead.lab.topology import Matrix, Topology

__all__ = ["Wiring"]


class Wiring:
    """The built network, and the shapers that hold its rates."""

    def __init__(self, topology: Topology, pid_of_host: dict[str, int]) -> None:
        """Build everything.

        Args:
            topology: What to build.
            pid_of_host: A process in the namespaces of each host and of the head node.
        """
        self._topology = topology
        self._switch = IPRoute()
        self._add_switches()
        self._egress: list[Shaper] = []
        self._ingress: list[Shaper] = []
        ends: list[_End] = []
        for index, host in enumerate(topology.hosts):
            switch = self._rack_name(topology.rack_of_host[index])
            port = self._add_cable(f"port{index}", switch, pid_of_host[host])
            netlink = _enter(pid_of_host[host])
            eth0 = _configure(netlink, address_of_host(index))
            rate_Bps = topology.nic_Bps[index]
            ends.append(_End(netlink, eth0, address_of_host(index)))
            self._egress.append(Shaper(netlink, eth0, rate_Bps))
            self._ingress.append(Shaper(self._switch, port, rate_Bps))
        self._add_cable("portL", "core", pid_of_host[LOGIN])
        with _enter(pid_of_host[LOGIN]) as netlink:
            ends.append(_End(netlink, _configure(netlink, login_address()), login_address()))
            _introduce(ends)
        self.set_pairs(topology.pair_Bps)

    def set_pairs(self, pair_Bps: Matrix) -> None:
        """Shape all pairs that are slower than both their interfaces."""
        for src in range(self._topology.num_hosts):
            for dst in range(self._topology.num_hosts):
                rate_Bps = float(pair_Bps[src, dst])
                if src != dst and rate_Bps != float("inf"):
                    self.set_pair(src, dst, rate_Bps)

    def set_pair(self, src: int, dst: int, rate_Bps: float) -> None:
        """Shape one directed pair; 0 drops its packets."""
        self._egress[src].set_pair(dst, rate_Bps)

    def cut_host(self, host: int) -> None:
        """Drop all that a host sends and all that it would get."""
        self._egress[host].cut()
        self._ingress[host].cut()

    def _rack_name(self, rack: int) -> str:
        return f"rack{rack}" if self._topology.uplink_Bps else "core"

    def _add_switches(self) -> None:
        self._switch.link("set", index=1, state="up")
        self._add_switch("core")
        for rack, rate_Bps in enumerate(self._topology.uplink_Bps):
            self._add_switch(f"rack{rack}")
            up, down = f"uplink{rack}", f"downlink{rack}"
            self._switch.link("add", ifname=up, kind="veth", mtu=MTU_BYTES, peer={"ifname": down})
            for name, switch in ((up, f"rack{rack}"), (down, "core")):
                index = _index_of(self._switch, name)
                master = _index_of(self._switch, switch)
                self._switch.link("set", index=index, mtu=MTU_BYTES, master=master, state="up")
                Shaper(self._switch, index, rate_Bps)

    def _add_switch(self, name: str) -> None:
        self._switch.link("add", ifname=name, kind="bridge", mtu=MTU_BYTES, state="up")

    def _add_cable(self, port: str, switch: str, pid: int) -> int:
        """Connect a host's eth0 to a switch; returns the port's interface number."""
        self._switch.link(
            "add",
            ifname=port,
            kind="veth",
            mtu=MTU_BYTES,
            master=_index_of(self._switch, switch),
            state="up",
            # One segment per packet: a 64 KiB super-packet would count as one for the shapers
            # and distort small rates.
            peer={
                "ifname": "eth0",
                "net_ns_fd": f"/proc/{pid}/ns/net",
                "mtu": MTU_BYTES,
                "gso_max_segs": 1,
            },
        )
        return _index_of(self._switch, port)


def _enter(pid: int) -> IPRoute:
    """A netlink connection in another process's network."""
    with in_network_of(pid):
        return IPRoute()


def _configure(netlink: IPRoute, address: str) -> int:
    """Bring a host's interfaces up; returns the number of eth0."""
    eth0 = _index_of(netlink, "eth0")
    netlink.addr("add", index=eth0, address=address, prefixlen=NETWORK.prefixlen)
    for index in (1, eth0):
        netlink.link("set", index=index, state="up")
    return eth0


class _End(NamedTuple):
    """The eth0 of a host or of the head node."""

    netlink: IPRoute
    eth0: int
    address: str


def _introduce(ends: Sequence[_End]) -> None:
    """Tell everybody the Ethernet address of everybody else.

    All namespaces of a machine share one table of learnt addresses (1024 by default), which 32
    hosts that all talk to each other overflow: connections then fail at random. Addresses that are
    given do not count. Also no first message has to wait until an address is learnt.
    """
    hardware = [end.netlink.get_links(end.eth0)[0].get("address") for end in ends]
    for end in ends:
        for other, address in zip(ends, hardware, strict=True):
            if other is not end:
                end.netlink.neigh(
                    "replace",
                    ifindex=end.eth0,
                    dst=other.address,
                    lladdr=address,
                    state="permanent",
                )


def _index_of(netlink: IPRoute, name: str) -> int:
    return int(netlink.link_lookup(ifname=name)[0])
