# SPDX-License-Identifier: Apache-2.0
"""Starts a router on each host, hands them jobs, starts ended ones again, and ends them all."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from fairlead.act.launch import Launcher
from fairlead.act.launch.host_names import addresses_for_all
from fairlead.act.launch.remote_command import remote_command_of
from fairlead.act.plan.relay import RouterPlace
from fairlead.act.relay.router_process import RouterEndedError, RouterProcess
from fairlead.errors import LaunchError
from fairlead.files.package_folders import found_in_package

__all__ = ["Routers", "router_program", "run_routers"]

_START_S = 20.0
_END_S = 5.0
_WATCH_S = 0.1
_FIRST_DELAY_S = 0.25
"""Before a router is started again; twice as long each time that it has ended soon."""
_SOON_S = 30.0
"""A router that has run for so long did not end by its start."""
_MAX_SOON_ENDS = 5
"""After so many ends, each soon after its start, it is not started again."""


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
    input does: so none outlives this process, whatever happens to it. One that has ended is started
    again where it was, with the jobs that it had, until it has ended soon after its start several
    times. Several threads may use them; one waits for another only where both use a host.

    Attributes:
        hosts: Their names.
    """

    def __init__(
        self,
        launcher: Launcher,
        hosts: Sequence[str],
        launcher_args: Sequence[str] = (),
        report: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Nothing is started before the block.

        Args:
            launcher: Launcher of the jobs; determines how hosts are reached.
            hosts: Their names.
            launcher_args: The user's own launcher arguments, which may name the way.
            report: Gets a line, in a thread of its own, where a router was started again or is
                given up.
        """
        self.hosts = tuple(hosts)
        self._report = report
        self._is_over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._on = remote_command_of(launcher, launcher_args)
        self._running: dict[str, _Router] = {}
        self._locks = {host: threading.Lock() for host in hosts}

    def __enter__(self) -> Routers:
        """Start them all.

        Raises:
            LaunchError: A router did not start, or other hosts could not reach it; the message
                names its host and says why.
        """
        self._start(self.hosts)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._watcher.join()
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
            for host in hosts:
                self._running[host].jobs.pop(key, None)
            self._send_all(hosts, [{"ended": key}] * len(hosts), "ended", _END_S)

    @contextlib.contextmanager
    def _held(self, hosts: Sequence[str]) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            # In one order, so that nobody waits for somebody who waits for him.
            for host in sorted(hosts):
                held.enter_context(self._locks[host])
            yield

    def _begin(self, key: str, hosts: Sequence[str]) -> list[RouterPlace]:
        ended = [host for host in hosts if self._running[host].process.has_ended]
        # Other jobs know where theirs was.
        for host in [host for host in ended if self._running[host].jobs]:
            self._start_again(host)
            ended.remove(host)
        _end([self._running[host].process for host in ended])
        self._start(ended)
        places = [self._running[host].place for host in hosts]
        peers = [[place.address, place.port] for place in places]
        lines: list[dict[str, object]] = [
            {"key": key, "host": index, "peers": peers} for index in range(len(hosts))
        ]
        self._send_all(hosts, lines, "taken", _START_S)
        for host, line in zip(hosts, lines, strict=True):
            self._running[host].jobs[key] = line
        return places

    def _watch(self) -> None:
        """Start those again that have ended, until the end of the block."""
        while not self._is_over.wait(_WATCH_S):
            for host in self.hosts:
                # Where a job begins or ends, that one notices.
                if not self._locks[host].acquire(blocking=False):
                    continue
                try:
                    self._watch_one(host)
                finally:
                    self._locks[host].release()

    def _watch_one(self, host: str) -> None:
        router = self._running[host]
        now_s = time.monotonic()
        # Without a job it is started with the next one.
        if not router.process.has_ended or not router.jobs or router.is_given_up:
            return
        if router.again_s is None:
            has_ended_soon = now_s - router.started_s < _SOON_S
            router.num_soon_ends = router.num_soon_ends + 1 if has_ended_soon else 1
            if router.num_soon_ends > _MAX_SOON_ENDS:
                router.is_given_up = True
                self._report(
                    f"relays: the router of {host} has ended {router.num_soon_ends} times, each "
                    "soon after its start, and is not started again; messages go without it"
                )
                return
            router.again_s = now_s + _FIRST_DELAY_S * 2 ** (router.num_soon_ends - 1)
        if now_s < router.again_s:
            return
        try:
            self._start_again(host)
        except LaunchError:  # It has ended once more, or does not answer.
            return
        self._report(f"relays: the router of {host} had ended and was started again")

    def _start_again(self, host: str) -> None:
        """At the same place, with the jobs that it had.

        Raises:
            LaunchError: It did not start, or refused a job; it does not run then.
        """
        router = self._running[host]
        try:
            self._start_with_jobs(host, router)
        except LaunchError:
            if not self._is_over.is_set():
                router.process.end(_END_S)
            raise
        router.is_given_up = False

    def _start_with_jobs(self, host: str, router: _Router) -> None:
        row = (host, _with_port(router.place), str(Path(router.place.socket).parent))
        router.again_s = None
        router.started_s = time.monotonic()
        router.process.close_input()
        router.process = RouterProcess(self._command(*row), self._by_force(*row), is_again=True)
        left_s = _limit(_START_S)
        router.process.wait_for_answer(left_s(), self._is_over)
        _port(router.process, host, left_s())
        for line in router.jobs.values():
            router.process.send(line)
            router.process.wait_for_answer(left_s(), self._is_over)
            if router.process.answer(left_s()).get("job") != "taken":
                raise LaunchError(f"{host}: its router refused the job")

    def _start(self, hosts: Sequence[str]) -> None:
        addresses = addresses_for_all(hosts)
        folders = [f"/tmp/fairlead-router-{secrets.token_hex(8)}" for _ in hosts]
        rows = list(zip(hosts, addresses, folders, strict=True))
        processes: list[RouterProcess] = []
        started: dict[str, _Router] = {}
        try:
            for row in rows:
                processes.append(RouterProcess(self._command(*row), self._by_force(*row)))
            left_s = _limit(_START_S)
            for (host, address, folder), process in zip(rows, processes, strict=True):
                port = _port(process, host, left_s())
                place = RouterPlace(host, address, port, f"{folder}/router")
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

    def _send_all(
        self,
        hosts: Sequence[str],
        lines: Sequence[Mapping[str, object]],
        wanted: str,
        limit_s: float,
    ) -> None:
        processes = [self._running[host].process for host in hosts]
        for process, line in zip(processes, lines, strict=True):
            process.send(line)
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


@dataclasses.dataclass
class _Router:
    """A host's router; changed only under the lock of its host.

    Attributes:
        jobs: The line by which it was given each, by key.
        started_s, again_s: By the monotonic clock; when it is to be started again, if it has ended.
        num_soon_ends: One after the other, without one that has run for long.
    """

    process: RouterProcess
    place: RouterPlace
    jobs: dict[str, dict[str, object]] = dataclasses.field(default_factory=dict)
    started_s: float = dataclasses.field(default_factory=time.monotonic)
    again_s: float | None = None
    num_soon_ends: int = 0
    is_given_up: bool = False


def _with_port(place: RouterPlace) -> str:
    """As `--listen` takes it."""
    address = f"[{place.address}]" if ":" in place.address else place.address
    return f"{address}:{place.port}"


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
def run_routers(
    launcher: Launcher,
    hosts: Sequence[str],
    key: str,
    launcher_args: Sequence[str] = (),
    report: Callable[[str], None] = lambda _line: None,
) -> Iterator[list[RouterPlace]]:
    """Routers of one job on all hosts, until the end of the block.

    Args:
        launcher: Launcher of the job; determines how hosts are reached.
        hosts: Their names.
        key: The job's key.
        launcher_args: The user's own launcher arguments, which may name the way.
        report: Gets a line where a router was started again or is given up.

    Raises:
        LaunchError: A router did not start, or other hosts could not reach it; the message names
            its host and says why.
    """
    with Routers(launcher, hosts, launcher_args, report) as routers:
        yield routers.begin(key, hosts)
