# SPDX-License-Identifier: Apache-2.0
"""Routers that are kept for all runs of a user on this machine: the service, and its use.

A run connects to the service's Unix socket, sends one line of JSON, its key and hosts, and gets one
back, where the routers are. Its job ends with the connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import socket
import socketserver
from collections.abc import Iterator, Sequence
from pathlib import Path

import pydantic

from fairlead.act.plan.relay import RouterPlace
from fairlead.act.relay.routers import Routers
from fairlead.errors import Error, InputError, LaunchError
from fairlead.files.json_files import parse_json
from fairlead.files.run_directory import state_folder

__all__ = ["kept_routers", "service_for"]

_ANSWER_S = 60.0
_MAX_LINE_BYTES = 16 * 1024 * 1024


class _Job(pydantic.BaseModel):
    key: str
    hosts: tuple[str, ...]


class _Answer(pydantic.BaseModel):
    routers: tuple[RouterPlace, ...] = ()
    error: str | None = None


class _Service(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, path: Path, routers: Routers) -> None:
        self.routers = routers
        super().__init__(str(path), _Run)


class _Run(socketserver.StreamRequestHandler):
    """Serves one run."""

    server: _Service

    def handle(self) -> None:
        routers = self.server.routers
        try:
            job = parse_json(self.rfile.readline(_MAX_LINE_BYTES), _Job, "job of a run")
            missing = [host for host in job.hosts if host not in routers.hosts]
            if missing:
                raise InputError(f"there is none on {missing[0]}")
        except Error as error:
            self._answer(_Answer(error=str(error)))
            return
        try:
            self._answer(_Answer(routers=tuple(routers.begin(job.key, job.hosts))))
            self.rfile.read()
        except LaunchError as error:
            self._answer(_Answer(error=str(error)))
        finally:
            with contextlib.suppress(LaunchError):
                routers.end(job.key, job.hosts)

    def _answer(self, answer: _Answer) -> None:
        with contextlib.suppress(OSError):
            self.wfile.write(answer.model_dump_json().encode() + b"\n")


@contextlib.contextmanager
def service_for(routers: Routers) -> Iterator[_Service]:
    """Lets runs of this user on this machine use the routers; it is open until the block ends.

    Raises:
        InputError: Routers are kept already, or the socket cannot be made.
    """
    path = _socket_path()
    if (other := _called(path)) is not None:
        other.close()
        raise InputError("routers are kept already: end the other fairlead relay serve first")
    former = os.umask(0o177)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        service = _Service(path, routers)
    except OSError as error:
        raise InputError(f"{path}: cannot be made: {error.strerror or error}") from error
    finally:
        os.umask(former)
    try:
        with service:
            yield service
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def kept_routers(key: str, hosts: Sequence[str]) -> Iterator[list[RouterPlace] | None]:
    """Routers of the service on these hosts, for one job until the end of the block.

    Args:
        key: The job's key.
        hosts: Of the job.

    Yields:
        Where they are; None if no service runs.

    Raises:
        LaunchError: The service has none on one of the hosts, or cannot start one again.
    """
    service = _called(_socket_path())
    if service is None:
        yield None
        return
    with service, service.makefile("rwb") as stream:
        try:
            stream.write(json.dumps({"key": key, "hosts": list(hosts)}).encode() + b"\n")
            stream.flush()
            answer = parse_json(stream.readline(), _Answer, "answer of fairlead relay serve")
        except OSError as error:
            raise LaunchError(f"no answer: {error}") from error
        if answer.error is not None:
            raise LaunchError(answer.error)
        yield list(answer.routers)


def _socket_path() -> Path:
    # Homes may be shared by machines; the kernel's sockets are not.
    return state_folder() / f"routers-{platform.node()}"


def _called(path: Path) -> socket.socket | None:
    """A connection with who listens there; None if nobody does."""
    service = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    service.settimeout(_ANSWER_S)
    try:
        service.connect(str(path))
    except OSError:
        service.close()
        return None
    return service
