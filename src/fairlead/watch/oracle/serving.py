# SPDX-License-Identifier: Apache-2.0
"""Runs the service until a signal ends it."""

from __future__ import annotations

import socket
import sys

import uvicorn

from fairlead.errors import Error
from fairlead.watch.oracle.oracle import Oracle
from fairlead.watch.oracle.service import service

__all__ = ["run"]

MOST_CONNECTIONS = 512
"""At the same time; what comes beyond is answered 503."""

QUIET_S = 30
"""After so long without a request a connection is closed."""


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
    config = uvicorn.Config(
        service(oracle, token=token, rate=rate),
        log_level="warning",
        access_log=False,
        lifespan="off",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=QUIET_S,
        server_header=False,
    )
    oracle.collector.read_all()
    oracle.collector.run(every_s)
    try:
        _Server(config).run(sockets=[listener])
    finally:
        oracle.collector.stop()
        listener.close()


class _Server(uvicorn.Server):
    """Prints its address as soon as it answers there, and not earlier."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, then print the address.

        The program that started it may wait for this line, and reads the port from it.
        """
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            print(f"fairlead: oracle answers on http://{shown}:{port}", file=sys.stderr, flush=True)
