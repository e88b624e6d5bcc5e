# SPDX-License-Identifier: Apache-2.0
"""Where no command reaches other hosts: each host runs Fairlead, one listens, the others join."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fairlead.act.launch.host_names import address_of, host_name_problem
from fairlead.errors import LaunchError, ProbeError
from fairlead.measure.tcp.hosts_by_agent import start_program
from fairlead.measure.tcp.probes import Member, TcpProbes, tcp_probe_program

__all__ = ["DEFAULT_PORT", "Meeting", "join", "listen"]

DEFAULT_PORT = 29410
"""torchrun's own are 29400 and 29500."""

_GREETING = {"join": "fairlead-order", "version": 1}
_MOST_LINE_BYTES = 1 << 22
_LINE_S = 10.0
_RETRY_S = 0.2


@dataclasses.dataclass
class Meeting:
    """All hosts of a rendezvous, as the one that listens has them.

    Attributes:
        probes: The programs on them.
        connections: To the other hosts, by their names.
    """

    probes: TcpProbes
    connections: Mapping[str, socket.socket]

    def conclude(self, result_of_host: Mapping[str, Mapping[str, Any]]) -> None:
        """End the programs, and send each of the other hosts its result."""
        pending = set(self.connections)
        self.probes.end()
        deadline_s = time.monotonic() + _LINE_S
        while pending:
            found = self.probes.next_answer(max(0.0, deadline_s - time.monotonic()))
            if found is None:
                return
            host, answer = found
            # The program there has ended, and the process that started it asks.
            if host in pending and answer == {"wants": "result"}:
                with contextlib.suppress(OSError):
                    _send_line(self.connections[host], result_of_host[host])
                pending.discard(host)


@contextlib.contextmanager
def listen(
    place: tuple[str, int], hosts: Sequence[str] | int, own_name: str, limit_s: float
) -> Iterator[Meeting]:
    """Wait for the other hosts, and keep their programs until the end of the block.

    Where the block ends by an error, the other hosts get it.

    Args:
        place: Name or address of this host by which others reach it, and the port.
        hosts: Names of all hosts, in their order, or their number; this host is one of them.
        own_name: Name of this host.
        limit_s: How long to wait for the others.

    Raises:
        LaunchError: It cannot listen there.
        ProbeError: Hosts are missing; the message names them, or their number.
    """
    address = address_of(place[0])
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(socket.create_server((address, place[1]), backlog=1024))
        except OSError as error:
            raise LaunchError(f"{address}:{place[1]}: cannot listen: {error.strerror}") from error
        joined = _gather(server, hosts, own_name, limit_s, stack)
        own = start_program([str(tcp_probe_program()), "--listen", address], own_name, address)
        stack.callback(own.end)
        names = _in_order([own_name, *joined], hosts)
        members = [own if name == own_name else _member(name, joined[name]) for name in names]
        meeting = Meeting(TcpProbes(members), joined)
        try:
            yield meeting
        except BaseException as error:
            said = {"error": str(error) or type(error).__name__}
            meeting.conclude({host: said for host in joined})
            raise


def join(place: tuple[str, int], own_name: str, limit_s: float) -> dict[str, Any]:
    """Take part in the measurement of the host that listens, and return what it sends at the end.

    Raises:
        LaunchError: It does not answer, refuses this host, or failed.
    """
    name = f"{place[0]}:{place[1]}"
    with _connect(place, limit_s) as connection:
        _send_line(connection, {**_GREETING, "host": own_name})
        try:
            connection.settimeout(limit_s)
            _require_no_error(name, _receive_line(connection))
            connection.settimeout(None)
            local = connection.getsockname()[0]
            # The connection is its standard input and output, and it ends with it.
            done = subprocess.run(
                [str(tcp_probe_program()), "--listen", local],
                stdin=connection.fileno(),
                stdout=connection.fileno(),
                check=False,
            )
            connection.settimeout(limit_s)
            _send_line(connection, {"wants": "result"})
            result = _receive_line(connection)
        except (OSError, ValueError) as error:
            raise LaunchError(f"{name}: the host that listens has ended: {error}") from error
        _require_no_error(name, result)
        if done.returncode != 0:
            raise LaunchError(f"the program for measuring ended with exit code {done.returncode}")
        return result


def _connect(place: tuple[str, int], limit_s: float) -> socket.socket:
    deadline_s = time.monotonic() + limit_s
    while True:
        try:
            return socket.create_connection(place, timeout=limit_s)
        except OSError as error:
            if time.monotonic() > deadline_s:
                reason = error.strerror or str(error)
                raise LaunchError(
                    f"{place[0]}:{place[1]}: nothing listens there after {limit_s:g} s: {reason}"
                ) from error
            time.sleep(_RETRY_S)


def _require_no_error(name: str, answer: Mapping[str, Any]) -> None:
    if "error" in answer:
        raise LaunchError(f"{name}: {answer['error']}")


def _gather(
    server: socket.socket,
    hosts: Sequence[str] | int,
    own_name: str,
    limit_s: float,
    stack: contextlib.ExitStack,
) -> dict[str, socket.socket]:
    """Connections of the other hosts, by their names; each has been welcomed."""
    expected = None if isinstance(hosts, int) else [host for host in hosts if host != own_name]
    num_others = hosts - 1 if isinstance(hosts, int) else len(expected or [])
    greeted: queue.Queue[tuple[str, socket.socket]] = queue.Queue()
    joined: dict[str, socket.socket] = {}
    deadline_s = time.monotonic() + limit_s
    # Each connection is read in a thread of its own: one that says nothing delays no other.
    threading.Thread(target=_accept_all, args=(server, greeted), daemon=True).start()
    while len(joined) < num_others:
        try:
            said, connection = greeted.get(timeout=max(0.0, deadline_s - time.monotonic()))
        except queue.Empty:
            raise ProbeError(_describe_missing(expected, num_others, joined, limit_s)) from None
        stack.enter_context(connection)
        name = said if expected is None else _name_among(expected, said, connection)
        problem = "is not one of the hosts" if name is None else host_name_problem(name)
        if name in joined or name == own_name:
            problem = "has joined already; start the command once on each host"
        with contextlib.suppress(OSError):
            _send_line(connection, {"error": f"host {said!r} {problem}"} if problem else {})
        if problem is None and name is not None:
            joined[name] = connection
    return joined


def _accept_all(server: socket.socket, greeted: queue.Queue[tuple[str, socket.socket]]) -> None:
    def greet(connection: socket.socket) -> None:
        try:
            connection.settimeout(_LINE_S)
            said = _receive_line(connection)
            if {name: said.get(name) for name in _GREETING} != _GREETING:
                raise ValueError("another program")
            connection.settimeout(None)
            greeted.put((str(said["host"]), connection))
        except (OSError, ValueError, KeyError):
            connection.close()

    with contextlib.suppress(OSError):  # The server is closed when all have joined.
        while True:
            connection = server.accept()[0]
            threading.Thread(target=greet, args=(connection,), daemon=True).start()


def _name_among(expected: Sequence[str], said: str, connection: socket.socket) -> str | None:
    """The name that the user gave the host which calls itself so."""
    short = said.partition(".")[0]
    address = connection.getpeername()[0]
    for name in expected:
        if name in (said, address) or name.partition(".")[0] == short:
            return name
    return None


def _describe_missing(
    expected: Sequence[str] | None,
    num_others: int,
    joined: Mapping[str, object],
    limit_s: float,
) -> str:
    if expected is None:
        return f"{num_others - len(joined)} of {num_others} hosts did not join within {limit_s:g} s"
    names = ", ".join(name for name in expected if name not in joined)
    return f"these hosts did not join within {limit_s:g} s: {names}"


def _in_order(names: Sequence[str], hosts: Sequence[str] | int) -> list[str]:
    """The user's order, or by name, as torchrun orders hosts."""
    return sorted(names) if isinstance(hosts, int) else list(hosts)


def _member(host: str, connection: socket.socket) -> Member:
    writer = connection.makefile("w", encoding="utf-8")

    def end() -> str:
        with contextlib.suppress(OSError, ValueError):
            writer.write("end\n")
            writer.flush()
        return ""

    reader = connection.makefile("r", encoding="utf-8", errors="replace")
    return Member(host, connection.getpeername()[0], reader, writer, end)


def _send_line(connection: socket.socket, facts: Mapping[str, Any]) -> None:
    connection.sendall(json.dumps(facts).encode() + b"\n")


def _receive_line(connection: socket.socket) -> dict[str, Any]:
    """One line of JSON, and not a byte more, since what follows is read by another program.

    Raises:
        ValueError: The connection has ended, or this is no JSON object.
    """
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            raise ValueError("the connection has ended")
        line += byte
        if len(line) > _MOST_LINE_BYTES:
            raise ValueError("a line is too long")
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object")  # noqa: TRY004
    return found
