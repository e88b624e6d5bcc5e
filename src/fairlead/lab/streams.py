# SPDX-License-Identifier: Apache-2.0
"""TCP streams between hosts, sent and received by the holder itself.

A socket stays in the network namespace where it was opened, so one process can have both ends.
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

__all__ = ["measure_Bps", "open_stream"]

_CONNECT_TIMEOUT_S = 1.0
_WINDOW_S = 0.01
_CHUNK = bytes(256 * 1024)


def open_stream(src_pid: int, dst_pid: int, dst: int) -> tuple[socket.socket, socket.socket]:
    """Connect two hosts.

    Args:
        src_pid: A process on the sending host.
        dst_pid: A process on the receiving host.
        dst: Number of the receiving host.

    Returns:
        The sending and the receiving end, both non-blocking.

    Raises:
        OSError: The hosts do not reach each other.
    """
    with in_network_of(dst_pid), socket.create_server((address_of_host(dst), 0)) as listener:
        with in_network_of(src_pid):
            sender = socket.create_connection(listener.getsockname(), _CONNECT_TIMEOUT_S)
        receiver = listener.accept()[0]
    # Closing drops buffered data, which would otherwise disturb the next stream.
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for end in (sender, receiver):
        end.setblocking(False)
    return sender, receiver


def measure_Bps(
    pid_of_host: Sequence[int], pairs: Sequence[tuple[int, int]], warm_up_s: float, seconds: float
) -> list[float]:
    """Rates of TCP streams that run at the same time.

    Args:
        pid_of_host: A process on each host.
        pairs: Sending and receiving host of each stream.
        warm_up_s: Time before counting starts.
        seconds: Time for which to count.

    Returns:
        Payload bytes per second of each stream; 0 where the hosts do not reach each other.
    """
    arrivals: dict[socket.socket, list[tuple[float, int]]] = {}
    receivers: list[socket.socket | None] = []
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for src, dst in pairs:
            try:
                ends = open_stream(pid_of_host[src], pid_of_host[dst], dst)
            except OSError:
                receivers.append(None)
                continue
            for end, event in zip(ends, (selectors.EVENT_WRITE, selectors.EVENT_READ), strict=True):
                selector.register(stack.enter_context(end), event)
            receivers.append(ends[1])
            arrivals[ends[1]] = []
        _pump(selector, arrivals, warm_up_s, seconds)
    return [0.0 if end is None else _rate_Bps(arrivals[end]) for end in receivers]


def _pump(
    selector: selectors.BaseSelector,
    arrivals: dict[socket.socket, list[tuple[float, int]]],
    warm_up_s: float,
    seconds: float,
) -> None:
    """Send and receive; after the warm-up, record how much has arrived at which time."""
    buffer = bytearray(1 << 20)
    start_s = time.perf_counter()
    now_s = start_s
    while now_s < start_s + warm_up_s + seconds:
        for key, _ in selector.select(0.01):
            end = key.fileobj
            assert isinstance(end, socket.socket)
            with contextlib.suppress(BlockingIOError):
                if key.events == selectors.EVENT_WRITE:
                    end.send(_CHUNK)
                    continue
                end.recv_into(buffer)
                if now_s > start_s + warm_up_s:
                    arrivals[end].append((time.perf_counter(), _count_received_bytes(end)))
        now_s = time.perf_counter()


def _count_received_bytes(end: socket.socket) -> int:
    """Bytes that the kernel has received so far, whether read by this process or not."""
    info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)
    # struct tcp_info of <linux/tcp.h>: tcpi_bytes_received, since Linux 4.1.
    return int(struct.unpack_from("=Q", info, 128)[0])


def _rate_Bps(arrivals: list[tuple[float, int]]) -> float:
    """The upper quartile over short windows: load slows some of them, a burst speeds up few."""
    rates = []
    start_s, start_bytes = arrivals[0] if arrivals else (0.0, 0)
    for now_s, num_bytes in arrivals:
        if now_s - start_s >= _WINDOW_S:
            rates.append((num_bytes - start_bytes) / (now_s - start_s))
            start_s, start_bytes = now_s, num_bytes
    return sorted(rates)[len(rates) * 3 // 4] if rates else 0.0
