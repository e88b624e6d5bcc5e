# SPDX-License-Identifier: Apache-2.0
"""Starts a router on each host, hands them jobs, and ends them all."""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import json
import secrets
import selectors
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from fairlead.act.launch import Launcher
from fairlead.act.launch.host_names import address_of, is_local_host
from fairlead.act.launch.reach import remote_agent
from fairlead.act.plan.relay import RouterPlace
from fairlead.errors import LaunchError
from fairlead.files.package_folders import found_in_package

__all__ = ["Routers", "router_program", "running_routers"]

_START_S = 20.0
_END_S = 5.0


def router_program() -> Path:
    """The program `fairlead-router`.

    Raises:
        LaunchError: The package was built without it.
    """
    found = found_in_package("_router/fairlead-router")
    if not found:
        raise LaunchError("fairlead-router was not built; install Fairlead again")
    return found[0]


class Routers:
    """Routers on some hosts, until the end of the `with` block.

    They are started by the way in which the launcher reaches hosts, and each ends when its standard
    input does: so none outlives this process, whatever happens to it. Several threads may use them.

    Attributes:
        hosts: Their names.
    """

    def __init__(
        self, launcher: Launcher, hosts: Sequence[str], launcher_args: Sequence[str] = ()
    ) -> None:
        """Nothing is started before the block.

        Args:
            launcher: Of the jobs; determines how hosts are reached.
            hosts: Their names.
            launcher_args: The user's own launcher arguments, which may name the way.
        """
        self.hosts = tuple(hosts)
        self._agent = remote_agent(launcher, launcher_args) or ["ssh", "-o", "BatchMode=yes"]
        self._running: dict[str, _Router] = {}
        self._ends = contextlib.ExitStack()
        self._lock = threading.Lock()

    def __enter__(self) -> Routers:
        """Start them all.

        Raises:
            LaunchError: A router did not start, or other hosts could not reach it; the message
                names its host and says why.
        """
        try:
            self._start(self.hosts)
        except BaseException:
            self._ends.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def begin(self, key: str, hosts: Sequence[str]) -> list[RouterPlace]:
        """Let the routers of these hosts take a job; those that have ended are started again.

        Args:
            key: The job's key.
            hosts: Those of the job, which all have a router.

        Raises:
            LaunchError: A router could not be started, or refused the job.
        """
        with self._lock:
            self._start([host for host in hosts if self._running[host].process.poll() is not None])
            places = [self._running[host].place for host in hosts]
            peers = [[place.address, place.port] for place in places]
            lines = [{"key": key, "host": index, "peers": peers} for index in range(len(hosts))]
            self._tell(hosts, lines, "taken", _START_S)
        return places

    def end(self, key: str, hosts: Sequence[str]) -> None:
        """Let the routers of these hosts forget a job.

        Raises:
            LaunchError: One of them did not answer; it has ended, so it has no job either.
        """
        with self._lock:
            self._tell(hosts, [{"ended": key}] * len(hosts), "ended", _END_S)

    def _start(self, hosts: Sequence[str]) -> None:
        addresses = _addresses_for_all(hosts)
        folders = [f"/tmp/fairlead-router-{secrets.token_hex(8)}" for _ in hosts]
        rows = list(zip(hosts, addresses, folders, strict=True))
        started = [self._ends.enter_context(_started(self._agent, *row)) for row in rows]
        deadline_s = time.monotonic() + _START_S
        for (host, address, folder), process in zip(rows, started, strict=True):
            port = _said(process, host, deadline_s)["port"]
            assert isinstance(port, int)
            place = RouterPlace(host, address, port, f"{folder}/router")
            self._running[host] = _Router(process, place)

    def _tell(
        self,
        hosts: Sequence[str],
        lines: Sequence[Mapping[str, object]],
        wanted: str,
        limit_s: float,
    ) -> None:
        deadline_s = time.monotonic() + limit_s
        for host, line in zip(hosts, lines, strict=True):
            stream = _pipe(self._running[host].process.stdin)
            # Of one that has ended the missing answer tells.
            with contextlib.suppress(OSError):
                stream.write(json.dumps(line) + "\n")
                stream.flush()
        failures: list[LaunchError] = []
        for host in hosts:
            process = self._running[host].process
            try:
                if _said(process, host, deadline_s).get("job") != wanted:
                    failures.append(LaunchError(f"{host}: the router refused the job"))
            except LaunchError as error:
                # What it says later must not be taken for the answer to another line.
                process.kill()
                failures.append(error)
        if failures:
            raise failures[0]


@dataclasses.dataclass(frozen=True)
class _Router:
    process: subprocess.Popen[str]
    place: RouterPlace


@contextlib.contextmanager
def running_routers(
    launcher: Launcher, hosts: Sequence[str], key: str, launcher_args: Sequence[str] = ()
) -> Iterator[list[RouterPlace]]:
    """Routers of one job on all hosts, until the end of the block.

    Args:
        launcher: Of the job; determines how hosts are reached.
        hosts: Their names.
        key: The job's key.
        launcher_args: The user's own launcher arguments, which may name the way.

    Raises:
        LaunchError: A router did not start, or other hosts could not reach it; the message names
            its host and says why.
    """
    with Routers(launcher, hosts, launcher_args) as routers:
        yield routers.begin(key, hosts)


def _addresses_for_all(hosts: Sequence[str]) -> list[str]:
    """Addresses by which the hosts reach each other.

    Raises:
        LaunchError: One has a loopback address only, and another host has not.
    """
    addresses = [address_of(host) for host in hosts]
    is_loopback = [ipaddress.ip_address(address).is_loopback for address in addresses]
    # As with Debian's "127.0.1.1 NAME" in /etc/hosts. If all are, they are all this machine.
    if any(is_loopback) and not all(is_loopback):
        index = is_loopback.index(True)
        raise LaunchError(
            f"{hosts[index]}: the name means {addresses[index]} here, where other hosts cannot "
            "reach it; give its address on the network instead, or correct /etc/hosts"
        )
    return addresses


@contextlib.contextmanager
def _started(
    agent: Sequence[str], host: str, address: str, folder: str
) -> Iterator[subprocess.Popen[str]]:
    program = [str(router_program()), "--listen", address, "--folder", folder]
    command = program if is_local_host(host) else [*agent, host, shlex.join(program)]
    try:
        # Signals of the terminal are for the program; routers outlive it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except OSError as error:
        raise LaunchError(f"{command[0]}: cannot be started: {error.strerror}") from error
    try:
        yield process
    finally:
        with contextlib.suppress(OSError):
            _pipe(process.stdin).close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _pipe(process.stdout).close()


def _said(process: subprocess.Popen[str], host: str, deadline_s: float) -> dict[str, object]:
    """The next line of a router.

    Raises:
        LaunchError: It said nothing in time, or ended.
    """
    stream = _pipe(process.stdout)
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        if not selector.select(max(0.0, deadline_s - time.monotonic())):
            raise LaunchError(f"{host}: its router did not start within {_START_S:g} s")
    line = stream.readline()
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise LaunchError(f"{host}: its router did not start: {line.strip() or 'it has ended'}")
    return answer


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
