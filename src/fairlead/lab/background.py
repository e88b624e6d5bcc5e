# SPDX-License-Identifier: Apache-2.0
"""Traffic of others: TCP streams of given rates that last as long as the lab."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from fairlead.lab.streams import open_stream

__all__ = ["start_background"]

_SO_MAX_PACING_RATE = 47  # From <asm-generic/socket.h>; the socket module does not define it.
_CHUNK = bytes(64 * 1024)
_MESSAGE_BYTES = 1 << 20
"""What a stream without a rate has under way. Source: ORACLE's generator of congestion, pairs that
stream messages of 1 MiB both ways."""
_CHUNK_S = 0.01
"""Send buffer, as time at the stream's rate."""


def start_background(
    pid_of_host: Sequence[int], streams: Sequence[tuple[int, int, float | None]]
) -> int | None:
    """Start the process that sends and receives all streams.

    Args:
        pid_of_host: A process on each host.
        streams: Sending host, receiving host and bytes per second of each; None: as fast as the
            network lets it, a megabyte at a time.

    Returns:
        Its process id, or None where there are no streams.
    """
    if not streams:
        return None
    pid = os.fork()
    if pid == 0:
        _run(pid_of_host, streams)
    return pid


def _run(pid_of_host: Sequence[int], streams: Sequence[tuple[int, int, float | None]]) -> NoReturn:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with selectors.DefaultSelector() as selector:
            for src, dst, rate_Bps in streams:
                sender, receiver = open_stream(pid_of_host[src], pid_of_host[dst], dst)
                buffer_bytes = _MESSAGE_BYTES
                if rate_Bps is not None:
                    sender.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, int(rate_Bps))
                    buffer_bytes = max(int(rate_Bps * _CHUNK_S), len(_CHUNK))
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
                selector.register(sender, selectors.EVENT_WRITE)
                selector.register(receiver, selectors.EVENT_READ)
            _pump(selector)
    except BaseException:
        traceback.print_exc(file=sys.stderr)
    os._exit(1)


def _pump(selector: selectors.BaseSelector) -> NoReturn:
    buffer = bytearray(1 << 20)
    while True:
        for key, _ in selector.select():
            end = key.fileobj
            assert isinstance(end, socket.socket)
            # A stream may break, for example when its host is cut off; the others continue.
            try:
                with contextlib.suppress(BlockingIOError):
                    if key.events == selectors.EVENT_WRITE:
                        end.send(_CHUNK)
                    elif end.recv_into(buffer) == 0:
                        selector.unregister(end)
            except OSError:
                selector.unregister(end)
