# SPDX-License-Identifier: Apache-2.0
"""Runs the service until a signal ends it."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import socket
import sys
import threading
import weakref
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fairlead.errors import Error
from fairlead.watch.oracle.guarding import MOST_UNREAD_BYTES, PASSED, Guard
from fairlead.watch.oracle.oracle import Oracle
from fairlead.watch.oracle.places import Places
from fairlead.watch.oracle.service import service

__all__ = ["configuration", "run"]

MOST_CONNECTIONS = 512
"""At the same time."""

MOST_HEAD_BYTES = 2**16
"""Largest head that is not whole yet: uvicorn has no limit for it, and keeps it all."""

MOST_HEADERS = 256
"""Header fields of a request: each takes many times its size in memory."""

MOST_REQUEST_BYTES = 2 * MOST_UNREAD_BYTES
"""Longest request with what is around the pieces of its body, which has no other limit."""

MOST_UNKNOWN = 256
"""Most connections without an authorised request yet: half is left for the others."""

MOST_UNKNOWN_OF_PEER = 64
"""The same from one address."""

MOST_OF_PEER = 256
"""All from one address."""

SHUTDOWN_S = 2
"""Longest that requests may still take after a signal."""

END_S = 3.5
"""After so long the process ends, whatever it computes."""

KILL_S = 1.0
"""So long after that the kernel ends it: threads of Python may all be held up."""

QUIET_S = 30
"""After so long without a further request a connection is closed."""

HEAD_S = 10.0
"""The same before the head of a request is whole: silent connections would keep all others out."""

UNREAD_S = 10.0
"""So often it is looked whether a client reads its answer, which is kept until it has."""

LEAST_READ_BYTES = 2**17
"""What a client has to read of a large answer in that time."""


def run(oracle: Oracle, *, host: str, port: int, token: str, rate: float, every_s: float) -> None:
    """Read sources, and answer.

    Raises:
        Error: The address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Error(f"oracle: cannot answer on {host}:{port}: {error.strerror or error}") from error
    server = _Server(configuration(service(oracle, token=token, rate=rate)))
    oracle.collector.run(every_s)
    try:
        server.run(sockets=[listener])
    finally:
        oracle.collector.stop()
        listener.close()
        server.end_if_signalled()


def configuration(app: Guard) -> uvicorn.Config:
    """How the application is served, with all limits."""
    return uvicorn.Config(
        app,
        http=_Connection,
        # A warning is a line for each malformed request, as many as anybody sends.
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        # One more than may be there, as a new one is counted before an old one is gone.
        limit_concurrency=2 * MOST_CONNECTIONS,
        timeout_keep_alive=QUIET_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
        server_header=False,
    )


class _Connection(HttpToolsProtocol):
    """Ends where a client takes too long or sends too much, which uvicorn has no limits for."""

    _until_head: asyncio.TimerHandle | None = None
    _until_read: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _request_bytes = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cycles: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def is_idle(self) -> bool:
        """Whether no request of it is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        for one in places(self.config.app).enter(self, self.client[0] if self.client else ""):
            one.transport.abort()
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        self._request_bytes += len(data)
        super().data_received(data)
        # What comes with the end of a head is its body, which has a bound of its own.
        self._head_bytes = 0 if self._until_head is None else self._head_bytes + len(data)
        if self._head_bytes > MOST_HEAD_BYTES or self._request_bytes > MOST_REQUEST_BYTES:
            self.transport.abort()
        elif self.is_idle and self._until_head is None and self.timeout_keep_alive_task is None:
            self._expect_head()  # Empty lines, which may stand before a request, begin none.

    def on_header(self, name: bytes, value: bytes) -> None:
        # Fields behind the body would be kept, too, and nobody reads them.
        if self._until_head is None:
            return
        super().on_header(name, value)
        if len(self.headers) > MOST_HEADERS:
            self.transport.abort()

    def on_message_begin(self) -> None:
        self._request_bytes = 0
        if self._until_head is None:
            self._expect_head()
        super().on_message_begin()
        passed = functools.partial(places(self.config.app).settle, self)
        self.scope["extensions"] = {PASSED: passed}  # type: ignore[dict-item]

    def on_headers_complete(self) -> None:
        self._expect_nothing()
        super().on_headers_complete()
        self._cycles.add(self.cycle)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        self._expect_no_reading()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        self._expect_no_reading()
        places(self.config.app).leave(self)
        # uvicorn notes it for the last one of several requests only.
        for cycle in self._cycles:
            cycle.disconnected = not cycle.response_complete
            cycle.message_event.set()
        super().connection_lost(exc)

    def _expect_reading(self) -> None:
        """Look again and again whether the client reads, and end where it does not."""
        self._expect_no_reading()
        unread_bytes = self.transport.get_write_buffer_size()

        def look() -> None:
            if unread_bytes - self.transport.get_write_buffer_size() < LEAST_READ_BYTES:
                self.transport.abort()
            else:
                self._expect_reading()

        self._until_read = self.loop.call_later(UNREAD_S, look)

    def _expect_no_reading(self) -> None:
        if self._until_read is not None:
            self._until_read.cancel()
        self._until_read = None

    def _expect_head(self) -> None:
        self._until_head = self.loop.call_later(HEAD_S, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._until_head is not None:
            self._until_head.cancel()
        self._until_head = None


def places(app: object) -> Places[_Connection]:
    """The connections of an application, which a server may have several of."""
    found = _PLACES.get(app)
    if found is None:
        found = Places(
            most=MOST_CONNECTIONS,
            most_of_peer=MOST_OF_PEER,
            most_unknown=MOST_UNKNOWN,
            most_unknown_of_peer=MOST_UNKNOWN_OF_PEER,
        )
        _PLACES[app] = found
    return found


_PLACES: weakref.WeakKeyDictionary[object, Places[_Connection]] = weakref.WeakKeyDictionary()


class _Server(uvicorn.Server):
    """Prints its address as soon as it answers there, and ends soon after a signal."""

    _signal = 0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; threads that compute an answer cannot be stopped, and are not waited for."""
        self._signal = sig
        super().handle_exit(sig, frame)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, END_S + KILL_S)
        last = threading.Timer(END_S, os._exit, (128 + sig,))
        last.daemon = True
        last.start()

    def end_if_signalled(self) -> None:
        """End the process at once, without what Python does at its end.

        Python destroys all modules then, which takes seconds on a busy machine, and no thread runs
        any more that could end it.
        """
        if self._signal:
            sys.stderr.flush()
            os._exit(128 + self._signal)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then print the address.

        The program that started it may wait for this line, and reads the port from it.
        """
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"fairlead: oracle answers on http://{shown}:{port}", file=sys.stderr, flush=True)
