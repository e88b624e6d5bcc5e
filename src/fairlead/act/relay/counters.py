# SPDX-License-Identifier: Apache-2.0
"""Asks a router on this machine what it has done."""

from __future__ import annotations

import socket
from pathlib import Path

__all__ = ["router_counters"]

_TIMEOUT_S = 2.0
_PREFIX = "fairlead_router_"


def router_counters(path: Path) -> dict[str, float] | None:
    """The counters by name, without their common prefix; None if no router answers.

    Args:
        path: Its Unix socket for metrics.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_TIMEOUT_S)
            connection.connect(str(path))
            connection.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            with connection.makefile("r", encoding="utf-8") as reader:
                text = reader.read()
    except OSError:
        return None
    counters = {}
    for line in text.partition("\n\n")[2].splitlines():
        name, _, value = line.rpartition(" ")
        if name.startswith(_PREFIX):
            counters[name.removeprefix(_PREFIX)] = float(value)
    return counters
