# SPDX-License-Identifier: Apache-2.0
"""Routers that are kept for all runs of a user on this machine: the service, and its use.

A run connects to the service's Unix socket, sends one line of JSON, its key and hosts, and gets one
back, where the routers are. Its job ends with the connection.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import socket
import socketserver
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import pydantic

from fairlead.act.plan.relay import RouterPlace
from fairlead.act.relay.routers import Routers
from fairlead.errors import Error, InputError, LaunchError
from fairlead.files.json_files import parse_json
from fairlead.files.run_directory import state_folder

__all__ = ["kept_routers", "service_for"]

_REQUEST_S = 10.0
_ANSWER_S = 60.0
_MAX_LINE_BYTES = 1024 * 1024


class _Job(pydantic.BaseModel):
    key: Annotated[str, pydantic.Field(pattern="^[0-9a-f]{64}$")]
    hosts: tuple[str, ...]


class _Answer(pydantic.BaseModel):
    routers: tuple[RouterPlace, ...] = ()
    error: str | None = None


class _Service(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str, routers: Routers) -> None:
        self.routers = routers
        super().__init__(path, _Run)


class _Run(socketserver.StreamRequestHandler):
    """Serves one run."""

    server: _Service
    timeout = _REQUEST_S

    def handle(self) -> None:
        routers = self.server.routers
        try:
            job = self._ask()
        except OSError:
            return
        except Error as error:
            self._answer(_Answer(error=str(error)))
            return
        try:
            self._answer(_Answer(routers=tuple(routers.begin(job.key, job.hosts))))
            self._wait_for_end()
        except LaunchError as error:
            self._answer(_Answer(error=str(error)))
        finally:
            with contextlib.suppress(LaunchError):
                routers.end(job.key, job.hosts)

    def _ask(self) -> _Job:
        job = parse_json(self.rfile.readline(_MAX_LINE_BYTES), _Job, "job of a run")
        if len(set(job.hosts)) != len(job.hosts):
            raise InputError("job of a run: hosts: one is named twice")
        missing = [host for host in job.hosts if host not in self.server.routers.hosts]
        if missing:
            raise InputError(f"there is none on {missing[0]}")
        return job

    def _answer(self, answer: _Answer) -> None:
        with contextlib.suppress(OSError):
            self.wfile.write(answer.model_dump_json().encode() + b"\n")

    def _wait_for_end(self) -> None:
        """The kernel ends the connection of a run that is killed, too."""
        self.connection.settimeout(None)
        with contextlib.suppress(OSError):
            while self.connection.recv(4096):
                pass


@contextlib.contextmanager
def service_for(routers: Routers) -> Iterator[_Service]:
    """Lets runs of this user on this machine use the routers; it is open until the block ends.

    Raises:
        InputError: Routers are kept already, or the socket cannot be made.
    """
    path = _socket_path()
    with _only_one(path), _listen(path, routers) as service:
        yield service


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("w")
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be used: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            reason = "routers are kept already: end the other fairlead relay serve first"
            raise InputError(reason) from error
        yield


@contextlib.contextmanager
def _listen(path: Path, routers: Routers) -> Iterator[_Service]:
    former = os.umask(0o177)
    try:
        # That of a service which was killed.
        path.unlink(missing_ok=True)
        with _short_name(path) as name:
            service = _Service(name, routers)
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
        hosts: Hosts of the job.

    Yields:
        Where they are; None if no service runs.

    Raises:
        Error: The service has none on one of the hosts, cannot start one again, or does not answer.
    """
    service = _connect(_socket_path())
    if service is None:
        yield None
        return
    with service:
        try:
            service.settimeout(_ANSWER_S)
            service.sendall(json.dumps({"key": key, "hosts": list(hosts)}).encode() + b"\n")
            with service.makefile("rb") as stream:
                line = stream.readline()
        except OSError as error:
            raise LaunchError(f"fairlead relay serve does not answer: {error}") from error
        answer = parse_json(line, _Answer, "answer of fairlead relay serve")
        if answer.error is not None:
            raise LaunchError(answer.error)
        yield list(answer.routers)


def _socket_path() -> Path:
    # Homes may be shared by machines; the kernel's sockets are not.
    return state_folder() / f"routers-{platform.node()}.socket"


@contextlib.contextmanager
def _short_name(path: Path) -> Iterator[str]:
    """Another name of a file; the kernel takes at most 107 bytes for a Unix socket.

    Raises:
        FileNotFoundError: There is no such folder.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _connect(path: Path) -> socket.socket | None:
    """A connection with the service; None if there is none.

    Raises:
        LaunchError: It cannot be called.
    """
    service = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short_name(path) as name:
            service.connect(name)
    except (FileNotFoundError, ConnectionRefusedError):
        service.close()
        return None
    except OSError as error:
        service.close()
        raise LaunchError(f"{path}: {error.strerror}") from error
    return service
