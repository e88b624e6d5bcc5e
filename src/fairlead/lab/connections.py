# SPDX-License-Identifier: Apache-2.0
"""Distinguishes the connections of a host, so that each can have a rate of its own.

The kernel's classifiers for flows may be missing (cls_flow, sch_fq); classic BPF is there wherever
cls_bpf is, and needs no privilege over the machine. Each destination has a number of classes, and
the ports choose among them. Linux gives connections to one port ports of their own that rise by a
few each time, so that a few connections do not meet in a class.
"""

from __future__ import annotations

import struct
from types import SimpleNamespace

from pyroute2 import IPRoute
from pyroute2.netlink import nla
from pyroute2.netlink.rtnl.tcmsg import plugins, sched_bpf

__all__ = ["NUM_CLASSES", "add_connection_filter"]

NUM_CLASSES = 64
"""Number of classes of each destination; a power of two."""


class _Options(nla):  # type: ignore[misc]
    """Fields of a classic BPF program (linux/pkt_cls.h)."""

    nla_map = (
        ("TCA_BPF_UNSPEC", "none"),
        ("TCA_BPF_ACT", "hex"),
        ("TCA_BPF_POLICE", "hex"),
        ("TCA_BPF_CLASSID", "uint32"),
        ("TCA_BPF_OPS_LEN", "uint16"),
        ("TCA_BPF_OPS", "cdata"),
    )


# pyroute2 takes only programs that were loaded before, by their file descriptor.
plugins["bpf"] = SimpleNamespace(
    parent=sched_bpf.parent,
    options=_Options,
    fix_request=sched_bpf.fix_request,
    get_parameters=lambda words: {
        "attrs": [
            ["TCA_BPF_OPS_LEN", len(words["program"]) // 8],
            ["TCA_BPF_OPS", words["program"]],
            ["TCA_BPF_CLASSID", words["classid"]],
        ]
    },
)

# linux/bpf_common.h and linux/filter.h: the operations used here, and where the IP header begins.
_LOAD_BYTE, _LOAD_HALF = 0x30, 0x28
_TO_X, _XOR_X, _ADD_X = 0x07, 0xAC, 0x0C
_AND, _ADD, _SUBTRACT, _SHIFT_LEFT, _SHIFT_RIGHT = 0x54, 0x04, 0x14, 0x64, 0x74
_IF_EQUAL, _RETURN, _RETURN_VALUE = 0x15, 0x06, 0x16
_IP = 0xFFF00000

_TCP = 6
_PROTOCOL_OFFSET, _LAST_OF_DST_OFFSET, _SRC_PORT_OFFSET, _DST_PORT_OFFSET = 9, 19, 20, 22


def add_connection_filter(
    netlink: IPRoute, index: int, parent: int, prio: int, first_class: int
) -> None:
    """Send the packets of each TCP connection to a class by destination and ports.

    Args:
        netlink: Connection in the interface's network.
        index: Number of the interface.
        parent: The queueing discipline with the classes.
        prio: Filters with smaller numbers come first.
        first_class: The first of NUM_CLASSES classes of host 0; those of the next hosts follow.
    """
    shift = NUM_CLASSES.bit_length() - 1
    operations = [
        (_LOAD_BYTE, 0, 0, _IP + _PROTOCOL_OFFSET),
        (_IF_EQUAL, 1, 0, _TCP),
        (_RETURN, 0, 0, 0),
        (_LOAD_HALF, 0, 0, _IP + _SRC_PORT_OFFSET),
        (_TO_X, 0, 0, 0),
        (_LOAD_HALF, 0, 0, _IP + _DST_PORT_OFFSET),
        (_XOR_X, 0, 0, 0),
        (_SHIFT_RIGHT, 0, 0, 1),
        (_AND, 0, 0, NUM_CLASSES - 1),
        (_TO_X, 0, 0, 0),
        (_LOAD_BYTE, 0, 0, _IP + _LAST_OF_DST_OFFSET),
        # The last byte of the address of host 0 is 1.
        (_SUBTRACT, 0, 0, 1),
        (_SHIFT_LEFT, 0, 0, shift),
        (_ADD_X, 0, 0, 0),
        (_ADD, 0, 0, first_class),
        (_RETURN_VALUE, 0, 0, 0),
    ]
    program = b"".join(struct.pack("=HBBI", *operation) for operation in operations)
    netlink.tc(
        "add-filter", "bpf", index, parent=parent, prio=prio, program=program, classid=first_class
    )
