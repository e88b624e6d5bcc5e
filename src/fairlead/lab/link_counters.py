# SPDX-License-Identifier: Apache-2.0
"""Counters of the lab's links, as routers have them: bytes, and the time that packets waited."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from fairlead.lab.namespaces import in_network_of

__all__ = ["LinkCounters", "queues"]

LOOK_S = 0.04
"""How often all queues are looked at: a share of time is known to a percent after four seconds."""

# <linux/netlink.h>, <linux/rtnetlink.h>, <linux/gen_stats.h>
_RTM_GETQDISC, _REQUEST_DUMP = 38, 0x301
_DONE, _ERROR = 3, 2
_TCA_STATS2, _STATS_BASIC, _STATS_QUEUE = 7, 1, 3
_TC_ROOT = 0xFFFFFFFF

_HEADER = struct.Struct("=IHHII")
_TC_MESSAGE = struct.Struct("=BxHiIII")
_ATTRIBUTE = struct.Struct("=HH")
_BASIC = struct.Struct("=QI")
_QUEUE = struct.Struct("=II")


class LinkCounters:
    """Counts in a process of its own, which ends with this one."""

    def __init__(self, interfaces: Sequence[tuple[int, int]]):
        """Begin to count.

        Args:
            interfaces: A process in the network, and the number of the interface, by which each
                link leaves a router.
        """
        size_bytes = 2 * 8 * len(interfaces)
        shared = np.frombuffer(mmap.mmap(-1, size_bytes), dtype=np.float64)
        self._bytes, self._stalled_s = shared.reshape(2, -1)
        pid = os.fork()
        if pid == 0:
            self._count(interfaces)

    def now(self) -> dict[str, Any]:
        """The counters: bytes, and seconds in which packets waited."""
        return {
            "at_s": time.time(),
            "bytes": self._bytes.tolist(),
            "stalled_s": self._stalled_s.tolist(),
        }

    def _count(self, interfaces: Sequence[tuple[int, int]]) -> NoReturn:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            link_of = {interface: link for link, interface in enumerate(interfaces)}
            sockets = {}
            for pid in dict.fromkeys(pid for pid, _ in interfaces):
                with in_network_of(pid):
                    sockets[pid] = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            last_s = time.monotonic()
            while True:
                time.sleep(LOOK_S)
                now_s = time.monotonic()
                for pid, netlink in sockets.items():
                    for index, sent_bytes, num_waiting in queues(netlink):
                        link = link_of.get((pid, index))
                        if link is not None:
                            self._bytes[link] = sent_bytes
                            self._stalled_s[link] += (now_s - last_s) * (num_waiting > 0)
                last_s = now_s
        except BaseException:
            traceback.print_exc(file=sys.stderr)
        os._exit(1)


def queues(netlink: socket.socket) -> Iterator[tuple[int, int, int]]:
    """Number of each interface that is shaped, bytes that it sent, packets that wait for it.

    Asked by hand: a general library takes a hundred times as long to take all answers apart.
    """
    message = _TC_MESSAGE.pack(0, 0, 0, 0, 0, 0)
    length = _HEADER.size + len(message)
    netlink.send(_HEADER.pack(length, _RTM_GETQDISC, _REQUEST_DUMP, 1, 0) + message)
    while True:
        answer = memoryview(netlink.recv(1 << 16))
        while answer:
            length, kind, *_ = _HEADER.unpack_from(answer)
            if kind in (_DONE, _ERROR):
                return
            _, _, index, _, parent, _ = _TC_MESSAGE.unpack_from(answer, _HEADER.size)
            if parent == _TC_ROOT:
                found = _statistics(answer[_HEADER.size + _TC_MESSAGE.size : length])
                if found is not None:
                    yield (index, *found)
            answer = answer[_align(length) :]


def _statistics(attributes: memoryview) -> tuple[int, int] | None:
    """Bytes sent and packets that wait."""
    both = dict(_attributes(attributes)).get(_TCA_STATS2)
    if both is None:
        return None
    inner = dict(_attributes(both))
    if _STATS_BASIC not in inner or _STATS_QUEUE not in inner:
        return None
    return _BASIC.unpack_from(inner[_STATS_BASIC])[0], _QUEUE.unpack_from(inner[_STATS_QUEUE])[0]


def _attributes(text: memoryview) -> Iterator[tuple[int, memoryview]]:
    while len(text) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(text)
        yield kind & 0x3FFF, text[_ATTRIBUTE.size : length]
        text = text[_align(length) :]


def _align(length: int) -> int:
    return (length + 3) & ~3
