# SPDX-License-Identifier: Apache-2.0
"""One-way times of small packets between hosts, sent and received by the holder itself.

Both ends are one process with one clock, so each direction is timed separately, which is not
possible between real hosts.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from collections.abc import Sequence

from fairlead.lab.addresses import address_of_host
from fairlead.lab.namespaces import in_network_of

__all__ = ["measure_latency_s"]

_SO_TIMESTAMPNS = 35  # <asm-generic/socket.h>; the socket module does not name it.
_GAP_S = 1e-3
"""Seconds between two packets, so that they do not delay one another."""
_REPLY_TIMEOUT_S = 0.25
"""A packet that takes longer than its delay plus this counts as lost."""
_PAYLOAD = struct.Struct("=Id")
"""Number of the pair, and when it was sent."""
_TIME = struct.Struct("=qq")


def measure_latency_s(
    pid_of_host: Sequence[int], pairs: Sequence[tuple[int, int]], repeats: int, delay_s: float
) -> list[list[float]]:
    """Send packets over each pair, all pairs in turns.

    Args:
        pid_of_host: A process on each host.
        pairs: Sending and receiving host.
        repeats: Packets per pair.
        delay_s: The longest delay to expect.

    Returns:
        Seconds on the way of each packet that arrived, per pair.
    """
    times_s: list[list[float]] = [[] for _ in pairs]
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        socket_of_host = {
            host: stack.enter_context(_open(pid_of_host[host], host))
            for host in sorted({host for pair in pairs for host in pair})
        }
        for end in socket_of_host.values():
            selector.register(end, selectors.EVENT_READ)
        for _ in range(repeats):
            for number, (src, dst) in enumerate(pairs):
                address = socket_of_host[dst].getsockname()
                payload = _PAYLOAD.pack(number, time.clock_gettime(time.CLOCK_REALTIME))
                # If a full queue or a cut host loses the packet, its time is missing.
                with contextlib.suppress(OSError):
                    socket_of_host[src].sendto(payload, address)
                _collect(selector, times_s, _GAP_S)
        end_s = time.monotonic() + delay_s + _REPLY_TIMEOUT_S
        while time.monotonic() < end_s and sum(map(len, times_s)) < repeats * len(pairs):
            _collect(selector, times_s, end_s - time.monotonic())
    return times_s


def _open(pid: int, host: int) -> socket.socket:
    """A socket on a host that records when the kernel received each packet."""
    with in_network_of(pid):
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    end.bind((address_of_host(host), 0))
    end.setblocking(False)
    return end


def _collect(
    selector: selectors.BaseSelector, times_s: list[list[float]], timeout_s: float
) -> None:
    """Receive for some time, or until something has arrived."""
    for key, _ in selector.select(max(timeout_s, 0)):
        end = key.fileobj
        assert isinstance(end, socket.socket)
        with contextlib.suppress(BlockingIOError):
            while True:
                payload, ancillary, _, _ = end.recvmsg(_PAYLOAD.size, 64)
                number, sent_s = _PAYLOAD.unpack(payload)
                seconds, nanoseconds = _TIME.unpack(ancillary[0][2])
                times_s[number].append(seconds + nanoseconds * 1e-9 - sent_s)
