# SPDX-License-Identifier: Apache-2.0
"""The programs that measure over TCP, one on each host, and the orders that they get."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import queue
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from fairlead.errors import LaunchError, ProbeError
from fairlead.files.package_folders import found_in_package

__all__ = ["Member", "TcpProbes", "tcp_probe_program"]

_MOST_LINE_CHARACTERS = 1 << 20
_KEY_BYTES = 16

Answer = Mapping[str, Any]


def tcp_probe_program() -> Path:
    """The program `fairlead-tcp-probe`.

    Raises:
        LaunchError: The package was built without it.
    """
    found = found_in_package("_probe/fairlead-tcp-probe")
    if not found:
        raise LaunchError("fairlead-tcp-probe was not built; install Fairlead again")
    return found[0]


@dataclasses.dataclass
class Member:
    """The program on one host.

    Attributes:
        host: Name of the host.
        address: By which other hosts reach it, in numbers.
        reader, writer: Its output and its input.
        end: Ends it, and returns the reason why it has ended, or "".
        facts: What it reported at its start: "port", "machine", "host", "node", "cores".
    """

    host: str
    address: str
    reader: IO[str]
    writer: IO[str]
    end: Callable[[], str]
    facts: Answer = dataclasses.field(default_factory=dict)


class TcpProbes:
    """The programs on all hosts; each obeys one order at a time and answers it by one line."""

    def __init__(self, members: Sequence[Member]) -> None:
        """Read from all of them.

        Args:
            members: The programs, one on each host, which have just been started.
        """
        self._members = {member.host: member for member in members}
        self._answers: queue.Queue[tuple[str, Answer | None]] = queue.Queue()
        for member in members:
            threading.Thread(target=self._read, args=(member,), daemon=True).start()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of the hosts."""
        return tuple(self._members)

    def place(self, host: str) -> list[object]:
        """Address and port, as orders take them."""
        member = self._members[host]
        return [member.address, member.facts["port"]]

    def greet(self, limit_s: float) -> dict[str, str]:
        """Wait until all have started, and give them the key of their connections.

        Returns:
            For each host that did not start in time, the reason; it takes part no more.
        """
        began_s = time.monotonic()
        answers = self._gather(self.hosts, limit_s)
        failed = {host: answer for host, answer in answers.items() if "port" not in answer}
        reasons = {host: self._reason(host, answer, limit_s) for host, answer in failed.items()}
        for host in self.hosts:
            if host in reasons:
                del self._members[host]
            else:
                self._members[host].facts = answers[host]
        order = {"do": "key", "key": secrets.token_hex(_KEY_BYTES)}
        left_s = max(1.0, limit_s - (time.monotonic() - began_s))
        self.ask_all(dict.fromkeys(self.hosts, order), left_s)
        return reasons

    def send(self, host: str, order: Mapping[str, object]) -> None:
        """Give an order; where the program has ended, its answer says so."""
        with contextlib.suppress(OSError, ValueError):
            writer = self._members[host].writer
            writer.write(json.dumps(order) + "\n")
            writer.flush()

    def next_answer(self, limit_s: float) -> tuple[str, Answer] | None:
        """A host and what its program answers; None where nothing comes in time."""
        deadline_s = time.monotonic() + limit_s
        while True:
            try:
                host, answer = self._answers.get(timeout=max(0.0, deadline_s - time.monotonic()))
            except queue.Empty:
                return None
            if host in self._members:
                return host, {"failed": "its program has ended"} if answer is None else answer

    def ask_all(
        self, orders: Mapping[str, Mapping[str, object]], limit_s: float
    ) -> dict[str, Answer]:
        """Give orders to several hosts and wait for all answers.

        Raises:
            ProbeError: One of them fails; the message names the host.
        """
        for host, order in orders.items():
            self.send(host, order)
        answers = self._gather(orders, limit_s)
        for host, answer in answers.items():
            if "failed" in answer:
                raise ProbeError(f"{host}: {answer['failed']}")
        return answers

    def host_identities(self) -> list[int]:
        """Host of each program: equal where two run on one host, 0 where it is unknown."""
        found = [member.facts.get("host") for member in self._members.values()]
        return [identity if type(identity) is int else 0 for identity in found]

    def count_hosts_of_machines(self) -> tuple[int, int]:
        """Most hosts that are containers of one machine, and the cores of that machine."""
        of_machine: dict[object, list[int]] = {}
        for member in self._members.values():
            of_machine.setdefault(member.facts["machine"], []).append(member.facts["cores"])
        cores = max(of_machine.values(), key=len)
        return len(cores), cores[0]

    def end(self) -> None:
        """Let all of them end."""
        for member in self._members.values():
            member.end()

    def _gather(self, hosts: Collection[str], limit_s: float) -> dict[str, Answer]:
        deadline_s = time.monotonic() + limit_s
        answers: dict[str, Answer] = {}
        while len(answers) < len(hosts):
            found = self.next_answer(max(0.0, deadline_s - time.monotonic()))
            if found is None:
                late = {"failed": f"no answer within {limit_s:.3g} s"}
                return {host: answers.get(host, late) for host in hosts}
            if found[0] in hosts:
                answers.setdefault(*found)
        return answers

    def _reason(self, host: str, answer: Answer, limit_s: float) -> str:
        said = self._members[host].end()
        return said or str(answer.get("failed", f"no answer within {limit_s:.3g} s"))

    def _read(self, member: Member) -> None:
        with contextlib.suppress(OSError, ValueError), member.reader as reader:
            while line := reader.readline(_MOST_LINE_CHARACTERS):
                self._answers.put((member.host, _parse(line)))
        self._answers.put((member.host, None))


def _parse(line: str) -> Answer:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"failed": line.strip()[:200]}
