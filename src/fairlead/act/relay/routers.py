# SPDX-License-Identifier: Apache-2.0
"""Starts a router on each host, hands them jobs, and ends them all."""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import secrets
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fairlead.act.launch import Launcher
from fairlead.act.launch.host_names import address_of, is_local_host
from fairlead.act.launch.reach import remote_agent
from fairlead.act.plan.relay import RouterPlace
from fairlead.act.relay.router_process import RouterEndedError, RouterProcess
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
    input does: so none outlives this process, whatever happens to it. Several threads may use them;
    one waits for another only where both use a host.

    Attributes:
        hosts: Their names.
    """

    def __init__(
        self, launcher: Launcher, hosts: Sequence[str], launcher_args: Sequence[str] = ()
    ) -> None:
        """Nothing is started before the block.

        Args:
            launcher: Launcher of the jobs; determines how hosts are reached.
            hosts: Their names.
            launcher_args: The user's own launcher arguments, which may name the way.
        """
        self.hosts = tuple(hosts)
        self._agent = remote_agent(launcher, launcher_args) or ["ssh", "-o", "BatchMode=yes"]
        self._running: dict[str, _Router] = {}
        self._locks = {host: threading.Lock() for host in hosts}

    def __enter__(self) -> Routers:
        """Start them all.

        Raises:
            LaunchError: A router did not start, or other hosts could not reach it; the message
                names its host and says why.
        """
        self._start(self.hosts)
        return self

    def __exit__(self, *_: object) -> None:
        _end([router.process for router in self._running.values()])

    def begin(self, key: str, hosts: Sequence[str]) -> list[RouterPlace]:
        """Let the routers of these hosts take a job; those that have ended are started again.

        Args:
            key: The job's key.
            hosts: Those of the job, which all have a router, each once.

        Raises:
            LaunchError: A router could not be started, did not answer, or refused the job.
        """
        with self._held(hosts):
            try:
                return self._begin(key, hosts)
            except RouterEndedError:
                # It ended a moment ago.
                return self._begin(key, hosts)

    def end(self, key: str, hosts: Sequence[str]) -> None:
        """Let the routers of these hosts forget a job.

        Raises:
            LaunchError: One of them did not answer in time, or has ended and has no job either.
        """
        with self._held(hosts):
            self._tell(hosts, [{"ended": key}] * len(hosts), "ended", _END_S)

    @contextlib.contextmanager
    def _held(self, hosts: Sequence[str]) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            # In one order, so that nobody waits for somebody who waits for him.
            for host in sorted(hosts):
                held.enter_context(self._locks[host])
            yield

    def _begin(self, key: str, hosts: Sequence[str]) -> list[RouterPlace]:
        ended = [host for host in hosts if self._running[host].process.has_ended]
        _end([self._running[host].process for host in ended])
        self._start(ended)
        places = [self._running[host].place for host in hosts]
        peers = [[place.address, place.port] for place in places]
        lines = [{"key": key, "host": index, "peers": peers} for index in range(len(hosts))]
        self._tell(hosts, lines, "taken", _START_S)
        return places

    def _start(self, hosts: Sequence[str]) -> None:
        addresses = _addresses_for_all(hosts)
        folders = [f"/tmp/fairlead-router-{secrets.token_hex(8)}" for _ in hosts]
        rows = list(zip(hosts, addresses, folders, strict=True))
        processes: list[RouterProcess] = []
        started: dict[str, _Router] = {}
        try:
            for row in rows:
                processes.append(RouterProcess(self._command(*row), self._by_force(*row)))
            left_s = _limit(_START_S)
            for (host, address, folder), process in zip(rows, processes, strict=True):
                place = RouterPlace(
                    host, address, _port(process, host, left_s()), f"{folder}/router"
                )
                started[host] = _Router(process, place)
        except BaseException:
            _end(processes)
            raise
        self._running |= started

    def _command(self, host: str, address: str, folder: str) -> list[str]:
        return self._on(host, _program(address, folder))

    def _by_force(self, host: str, address: str, folder: str) -> list[str]:
        """Ends the router and removes its folder, also where it was stopped by a signal."""
        words = shlex.quote(" ".join(_program(address, folder)) + " ")
        # A few processes have the folder among their words, of which one is the router.
        script = (
            f"for file in $(grep -lasF {folder} /proc/[0-9]*/cmdline); do "
            f'if [ "$(tr "\\0" " " < $file)" = {words} ]; then '
            "file=${file#/proc/}; kill -KILL ${file%/cmdline}; fi; done 2>/dev/null; "
            f"rm -rf {folder}"
        )
        return self._on(host, ["/bin/sh", "-c", script])

    def _on(self, host: str, program: Sequence[str]) -> list[str]:
        return [*program] if is_local_host(host) else [*self._agent, host, shlex.join(program)]

    def _tell(
        self,
        hosts: Sequence[str],
        lines: Sequence[Mapping[str, object]],
        wanted: str,
        limit_s: float,
    ) -> None:
        processes = [self._running[host].process for host in hosts]
        for process, line in zip(processes, lines, strict=True):
            process.tell(line)
        left_s = _limit(limit_s)
        failures: list[LaunchError] = []
        for host, process in zip(hosts, processes, strict=True):
            try:
                if process.answer(left_s()).get("job") != wanted:
                    failures.append(LaunchError(f"{host}: its router refused the job"))
            except RouterEndedError:
                process.end(_END_S)
                failures.append(RouterEndedError(f"{host}: its router has ended"))
            except LaunchError as error:
                failures.append(LaunchError(f"{host}: its router: {error}"))
        if failures:
            raise failures[0]


def _program(address: str, folder: str) -> list[str]:
    return [str(router_program()), "--listen", address, "--folder", folder]


@dataclasses.dataclass(frozen=True)
class _Router:
    process: RouterProcess
    place: RouterPlace


def _limit(limit_s: float) -> Callable[[], float]:
    """What is left of a time that begins now."""
    deadline_s = time.monotonic() + limit_s
    return lambda: max(0.0, deadline_s - time.monotonic())


def _port(process: RouterProcess, host: str, limit_s: float) -> int:
    try:
        port = process.answer(limit_s).get("port")
    except LaunchError as error:
        raise LaunchError(f"{host}: its router did not start: {error}") from error
    if not isinstance(port, int):
        raise LaunchError(f"{host}: its router did not report where it listens")
    return port


def _end(processes: Sequence[RouterProcess]) -> None:
    for process in processes:
        process.close_input()
    left_s = _limit(_END_S)
    for process in processes:
        process.end(left_s())


@contextlib.contextmanager
def running_routers(
    launcher: Launcher, hosts: Sequence[str], key: str, launcher_args: Sequence[str] = ()
) -> Iterator[list[RouterPlace]]:
    """Routers of one job on all hosts, until the end of the block.

    Args:
        launcher: Launcher of the job; determines how hosts are reached.
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
