# SPDX-License-Identifier: Apache-2.0
"""Rates on one interface: an HTB tree with the link's rate above and pairs' rates below.

root 1:
  direct     ARP, and all that comes from or goes to the head node: not shaped
  1:1        the link
    1:2      everything without a rate of its own
    1:16+d   what goes to host d, where that pair has a rate
    1:1024+  connections, where each of them has a rate (connections.py)
  1:3        drops: cut pairs and hosts

Where netem delays packets, each delayed pair has a class, and netem is before the class's queue.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl.tcmsg import plugins, sched_pfifo

from fairlead.errors import LabError
from fairlead.lab.addresses import address_of_host, login_address
from fairlead.lab.connections import NUM_CLASSES, add_connection_filter
from fairlead.lab.netem import add_netem

__all__ = ["MTU_BYTES", "Shaper"]

# bfifo has the same options as pfifo (struct tc_fifo_qopt), but pyroute2 lists only pfifo.
plugins.setdefault("bfifo", sched_pfifo)

MTU_BYTES = 9000
"""Jumbo frames, as inside clouds (AWS: 9001): the headers take less than 1 % of a rate."""

_FRAME_BYTES = MTU_BYTES + 14
_QUEUE_S = 0.02
"""A queue holds the data of this time at its rate, within the limits below."""
_QUEUE_MIN_BYTES = 256 * 1024
_QUEUE_MAX_BYTES = 2 * 1024 * 1024
_BURST_S = 100e-6
"""How late the kernel's timer may be without loss of rate; with more, messages would pass faster
than the link's rate."""

_ROOT = 0x10000
_DIRECT = 0x10000
_LINK = 0x10001
_OTHERS = 0x10002
_DROP = 0x10003
_FIRST_PAIR = 0x10010
_FIRST_CONNECTION = 0x10400

_ETH_P_IP = 0x0800
_ETH_P_ARP = 0x0806
_SRC_OFFSET, _DST_OFFSET = 12, 16
_PRIO_CUT, _PRIO_DIRECT, _PRIO_ARP, _PRIO_PAIR, _PRIO_CONNECTION = 1, 2, 3, 4, 5


class Shaper:
    """Shapes the traffic that leaves through one interface."""

    def __init__(
        self, netlink: IPRoute, index: int, link_Bps: float, delay_s: Sequence[float] = ()
    ) -> None:
        """Shape interface number `index`, seen through `netlink`, to `link_Bps`.

        Args:
            netlink: Connection in the interface's network.
            index: Number of the interface.
            link_Bps: Rate of all traffic that leaves through it.
            delay_s: Delay by netem of the packets to each host, length H; empty: none. It applies
                only to pairs that are set.
        """
        self._netlink = netlink
        self._index = index
        self._link_Bps = link_Bps
        self._delay_s = delay_s
        self._pairs: set[int] = set()
        try:
            netlink.tc("add", "htb", index, _ROOT, default=_OTHERS & 0xFFFF)
        except NetlinkError as error:
            raise LabError(
                f"the kernel cannot shape traffic: {error.args[-1]}; it needs the modules sch_htb, "
                "sch_fifo and cls_u32 (modprobe as root)"
            ) from error
        self._add_class(_LINK, _ROOT, link_Bps, link_Bps)
        self._add_class(_OTHERS, _LINK, self._small_Bps(), link_Bps)
        self._add_queue(_OTHERS, link_Bps)
        self._add_class(_DROP, _ROOT, link_Bps, link_Bps)
        netlink.tc("add", "bfifo", index, _handle(_DROP), parent=_DROP, limit=0)
        self._add_filter(_PRIO_ARP, _DIRECT, "0x0/0x0+0", protocol=_ETH_P_ARP)
        for offset in (_SRC_OFFSET, _DST_OFFSET):
            self._add_filter(_PRIO_DIRECT, _DIRECT, _match(login_address(), offset))

    def set_pair(self, dst: int, rate_Bps: float) -> None:
        """Shape the traffic to host number `dst`; 0 drops it."""
        if rate_Bps == 0:
            self._add_filter(_PRIO_CUT, _DROP, _match(address_of_host(dst), _DST_OFFSET))
            return
        rate_Bps = min(rate_Bps, self._link_Bps)
        pair = _FIRST_PAIR + dst
        if dst in self._pairs:
            self._change_class(pair, rate_Bps)
            return
        self._pairs.add(dst)
        self._add_class(pair, _LINK, self._small_Bps(), rate_Bps)
        delay_s = self._delay_s[dst] if self._delay_s else 0.0
        self._add_queue(pair, rate_Bps, delay_s)
        self._add_filter(_PRIO_PAIR, pair, _match(address_of_host(dst), _DST_OFFSET))

    def limit_connections(self, num_hosts: int, rate_Bps: float) -> None:
        """Shape each connection to any of the first `num_hosts` hosts.

        Raises:
            LabError: The kernel cannot distinguish connections.
        """
        for number in range(num_hosts * NUM_CLASSES):
            connection = _FIRST_CONNECTION + number
            self._add_class(connection, _LINK, self._small_Bps(), min(rate_Bps, self._link_Bps))
            self._add_queue(connection, rate_Bps)
        try:
            add_connection_filter(
                self._netlink, self._index, _ROOT, _PRIO_CONNECTION, _FIRST_CONNECTION
            )
        except NetlinkError as error:
            raise LabError(
                f"the kernel cannot distinguish connections: {error.args[-1]}; it needs the module "
                "cls_bpf (modprobe as root)"
            ) from error

    def cut(self) -> None:
        """Drop everything, including the head node's traffic."""
        self._add_filter(_PRIO_CUT, _DROP, "0x0/0x0+0")

    def _small_Bps(self) -> float:
        # A class sends its guaranteed rate even when its parent is exhausted: keep that part tiny,
        # so that the link's rate holds however many pairs send at once.
        return max(self._link_Bps / 10_000, 1000.0)

    def _class_options(self, rate_Bps: float, ceil_Bps: float) -> dict[str, int]:
        return {
            "rate": int(rate_Bps),
            "ceil": int(ceil_Bps),
            "burst": _burst_bytes(rate_Bps),
            "cburst": _burst_bytes(ceil_Bps),
            "quantum": _FRAME_BYTES,
            "mtu": _FRAME_BYTES,
        }

    def _add_class(self, handle: int, parent: int, rate_Bps: float, ceil_Bps: float) -> None:
        options = self._class_options(rate_Bps, ceil_Bps)
        self._netlink.tc("add-class", "htb", self._index, handle, parent=parent, **options)

    def _change_class(self, handle: int, ceil_Bps: float) -> None:
        options = self._class_options(min(self._small_Bps(), ceil_Bps), ceil_Bps)
        self._netlink.tc("change-class", "htb", self._index, handle, parent=_LINK, **options)

    def _add_queue(self, parent: int, rate_Bps: float, delay_s: float = 0.0) -> None:
        queue = _handle(parent)
        if delay_s > 0:
            netem = _handle(parent, of_netem=True)
            add_netem(self._netlink, self._index, netem, parent, delay_s)
            parent = netem | 1
        limit = int(min(max(rate_Bps * _QUEUE_S, _QUEUE_MIN_BYTES), _QUEUE_MAX_BYTES))
        self._netlink.tc("add", "bfifo", self._index, queue, parent=parent, limit=limit)

    def _add_filter(self, prio: int, target: int, key: str, protocol: int = _ETH_P_IP) -> None:
        self._netlink.tc(
            "add-filter",
            "u32",
            self._index,
            parent=_ROOT,
            prio=prio,
            protocol=protocol,
            target=target,
            keys=[key],
        )


def _burst_bytes(rate_Bps: float) -> int:
    return int(_FRAME_BYTES + rate_Bps * _BURST_S)


def _handle(parent: int, of_netem: bool = False) -> int:
    """A handle of its own for the queue below a class: 1:2 gives 1002:0, and 2002:0 for netem."""
    return ((0x2000 if of_netem else 0x1000) + (parent & 0xFFFF)) << 16


def _match(address: str, offset: int) -> str:
    return f"{int(ipaddress.IPv4Address(address)):#x}/0xffffffff+{offset}"
