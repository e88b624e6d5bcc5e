# SPDX-License-Identifier: Apache-2.0
"""The lab's network: interfaces, switches and cables, built from a topology.

    h0 eth0 --- port0 [rack0] uplink0 --- downlink0 [core] --- portL --- eth0 login
    h1 eth0 --- port1 [     ]                        [    ] downlink1 --- uplink1 [rack1] ...

Traffic from a host is shaped at its eth0, traffic to it at its port, traffic out of a rack at its
uplink and into it at its downlink. Without racks all ports are on the core. Packets are delayed
between eth0 and port: by netem at eth0, or by the delay line next to the switch.
"""

from __future__ import annotations

from typing import Literal

from pyroute2 import IPRoute

from fairlead.lab.addresses import LOGIN, address_of_host, login_address
from fairlead.lab.delay_line import add_delay_line
from fairlead.lab.delaying import DelayBy, choose_delay
from fairlead.lab.ends import End, index_of, introduce
from fairlead.lab.namespaces import in_network_of
from fairlead.lab.netem import has_netem
from fairlead.lab.shaping import MTU_BYTES, Shaper
from fairlead.lab.topology import Matrix, Topology

__all__ = ["Wiring"]


class Wiring:
    """The built network, and the shapers that hold its rates.

    Attributes:
        delay_by: How packets are delayed.
        delay_line: Process of the delay line; None where there is none.
    """

    delay_by: DelayBy
    delay_line: int | None

    def __init__(
        self,
        topology: Topology,
        pid_of_host: dict[str, int],
        delay_by: Literal["netem", "line"] | None = None,
    ) -> None:
        """Build everything.

        Args:
            topology: What to build.
            pid_of_host: A process in the namespaces of each host and of the head node.
            delay_by: The scenario's `latency.by`.
        """
        self._topology = topology
        self._switch = IPRoute()
        self._add_switches()
        self.delay_by = choose_delay(topology, delay_by, self._has_netem)
        self._egress: list[Shaper] = []
        self._ingress: list[Shaper] = []
        ends: list[End] = []
        for index, host in enumerate(topology.hosts):
            switch = self._rack_name(topology.rack_of_host[index])
            port = self._add_cable(f"port{index}", switch, pid_of_host[host])
            end = End.configure(_enter(pid_of_host[host]), address_of_host(index))
            ends.append(end)
            rate_Bps = topology.nic_Bps[index]
            shaper = Shaper(end.netlink, end.eth0, rate_Bps, self._netem_delay_s(index))
            if topology.connection_Bps is not None:
                shaper.limit_connections(topology.num_hosts, topology.connection_Bps)
            self._egress.append(shaper)
            self._ingress.append(Shaper(self._switch, port, rate_Bps))
        self._add_cable("portL", "core", pid_of_host[LOGIN])
        with _enter(pid_of_host[LOGIN]) as netlink:
            ends.append(End.configure(netlink, login_address()))
            introduce(ends)
        self.delay_line = None
        if self.delay_by is DelayBy.line:
            racks = [self._rack_name(rack) for rack in range(topology.num_racks)]
            self.delay_line = add_delay_line(self._switch, racks, topology, ends)
        self.set_pairs(topology.pair_Bps)
        if self.delay_by is DelayBy.netem:
            self._add_missing_pairs()

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
        """Drop all packets from and to a host."""
        self._egress[host].cut()
        self._ingress[host].cut()

    def _netem_delay_s(self, src: int) -> list[float]:
        row: list[float] = self._topology.delay_s[src].tolist()
        return row if self.delay_by is DelayBy.netem else [0.0] * len(row)

    def _add_missing_pairs(self) -> None:
        """Give delayed pairs without a rate of their own a class for netem."""
        for src, dst in self._topology.delayed_pairs():
            if self._topology.pair_Bps[src, dst] == float("inf"):
                self.set_pair(src, dst, self._topology.nic_Bps[src])

    def _rack_name(self, rack: int) -> str:
        return f"rack{rack}" if self._topology.uplink_Bps else "core"

    def _has_netem(self) -> bool:
        return has_netem(self._switch, index_of(self._switch, "core"))

    def _add_switches(self) -> None:
        self._switch.link("set", index=1, state="up")
        self._add_switch("core")
        for rack, rate_Bps in enumerate(self._topology.uplink_Bps):
            self._add_switch(f"rack{rack}")
            up, down = f"uplink{rack}", f"downlink{rack}"
            self._switch.link("add", ifname=up, kind="veth", mtu=MTU_BYTES, peer={"ifname": down})
            for name, switch in ((up, f"rack{rack}"), (down, "core")):
                index = index_of(self._switch, name)
                master = index_of(self._switch, switch)
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
            master=index_of(self._switch, switch),
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
        return index_of(self._switch, port)


def _enter(pid: int) -> IPRoute:
    """A netlink connection in another process's network."""
    with in_network_of(pid):
        return IPRoute()
