# SPDX-License-Identifier: Apache-2.0
"""Delay by the kernel's own network emulator, where it is built in or a module."""

from __future__ import annotations

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

__all__ = ["add_netem", "has_netem"]

_MAX_PACKETS = 1 << 14
"""Packets in the queue: more than 1 Gbit/s sends in a second in jumbo frames."""


def has_netem(netlink: IPRoute, index: int) -> bool:
    """Whether the kernel has netem: it is added to interface number `index` and removed again."""
    handle = 0x20000
    try:
        add_netem(netlink, index, handle, parent=0xFFFFFFFF, delay_s=1e-3)
    except NetlinkError:
        return False
    netlink.tc("del", index=index, handle=handle, parent=0xFFFFFFFF)
    return True


def add_netem(netlink: IPRoute, index: int, handle: int, parent: int, delay_s: float) -> None:
    """Delay the packets of a class of an interface's shaper; a queue may follow as its only child.

    Args:
        netlink: Connection in the interface's network.
        index: Number of the interface.
        handle: Handle of the new queue, free so far.
        parent: The class.
        delay_s: The delay.
    """
    netlink.tc(
        "add", "netem", index, handle, parent=parent, delay=delay_s * 1e6, limit=_MAX_PACKETS
    )
