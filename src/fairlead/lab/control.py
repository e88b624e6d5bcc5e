# SPDX-License-Identifier: Apache-2.0
"""Requests to a lab's holder: one JSON line each way over a Unix socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from fairlead.errors import InputError, LabError
from fairlead.lab.state import CONTROL

__all__ = ["answer", "ask", "listen", "receive"]

_REQUEST_TIMEOUT_S = 5.0


def listen(folder: Path) -> socket.socket:
    """The holder's end."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(folder / CONTROL))
    listener.listen(16)
    return listener


def receive(connection: socket.socket) -> dict[str, Any]:
    """One request, with a time limit, so that a silent client cannot block the lab.

    Raises:
        ValueError: It is not a JSON object.
        OSError: It did not arrive in time.
    """
    connection.settimeout(_REQUEST_TIMEOUT_S)
    with connection.makefile("rb") as reader:
        try:
            request = json.loads(reader.readline())
        except RecursionError as error:
            raise ValueError("brackets too deep") from error
    connection.settimeout(None)
    if not isinstance(request, dict):
        raise ValueError(f"expected a JSON object, got {request!r:.80}")  # noqa: TRY004 (JSON's)
    return request


def answer(connection: socket.socket, message: dict[str, Any]) -> None:
    """The answer to one request."""
    connection.sendall(json.dumps(message).encode() + b"\n")


def ask(folder: Path, timeout_s: float = 60.0, **request: Any) -> dict[str, Any]:
    """Send a request to the holder of the lab in `folder` and wait for the answer.

    Raises:
        InputError: The holder refused the request; the message says why.
        LabError: The holder does not answer.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(folder / CONTROL))
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as reader:
                reply: dict[str, Any] = json.loads(reader.readline())
    except (OSError, ValueError) as error:
        raise LabError(f"lab {folder.name!r} does not answer: {error}") from error
    if "error" in reply:
        raise InputError(f"lab {folder.name!r}: {reply['error']}")
    return reply
