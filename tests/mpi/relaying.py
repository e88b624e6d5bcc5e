# SPDX-License-Identifier: Apache-2.0
"""Routers of invented hosts on this machine, and the plan for programs that run on these hosts."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tracing import PROGRAMS, TracedMpi

from fairlead.act.launch import detect
from fairlead.act.mpi_builds import find
from fairlead.act.plan.relay import RELAY_RULES, RouterPlace, new_key, write_relay_plan
from fairlead.act.relay.counters import router_counters
from fairlead.act.relay.routers import router_program, run_routers
from fairlead.decide.host_paths import path_table
from fairlead.model.network import Network

ON_HOSTS = PROGRAMS / "on-hosts.sh"
NOWHERE = "224.0.0.1"
"""A process can listen at a multicast address, but nothing can connect to it."""


def hosts_of(num_ranks: int) -> list[str]:
    """A host for each rank."""
    return [f"host{index}" for index in range(num_ranks)]


def uneven_network(num_hosts: int) -> Network:
    """Neighbours in a ring have a slow link between them, others a fast one."""
    index = np.arange(num_hosts)
    steps = (index[None, :] - index[:, None]) % num_hosts
    rates = np.where((steps == 1) | (steps == num_hosts - 1), 1e8, 1e9)
    np.fill_diagonal(rates, np.inf)
    latency_s = np.where(np.eye(num_hosts), 0.0, 5e-5)
    return Network(tuple(hosts_of(num_hosts)), latency_s, rates)


class Routers:
    """One router for each host, all on the loopback interface.

    Others do not reach the host `unreachable`, if there is one.
    """

    def __init__(self, num_hosts: int, folder: Path, unreachable: int | None = None):
        self.key = new_key()
        self.places: list[RouterPlace] = []
        self.processes: list[subprocess.Popen[str]] = []
        self._folder = folder
        for index, host in enumerate(hosts_of(num_hosts)):
            process, port = self._start(host, 0)
            self.processes.append(process)
            address = NOWHERE if index == unreachable else "127.0.0.1"
            self.places.append(RouterPlace(host, address, port, f"{folder}/{host}/router"))
        for index in range(num_hosts):
            self._admit(index)

    def _start(self, host: str, port: int) -> tuple[subprocess.Popen[str], int]:
        process = subprocess.Popen(
            [router_program(), "--listen", f"127.0.0.1:{port}", "--folder", self._folder / host],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())["port"]

    def _admit(self, index: int) -> None:
        process = self.processes[index]
        assert process.stdin is not None
        assert process.stdout is not None
        peers = [[place.address, place.port] for place in self.places]
        job = {"key": self.key, "host": index, "peers": peers}
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"job": "taken"}

    def forwards(self, index: int) -> bool:
        """Whether this one sends messages of its host: the program has begun to relay."""
        counters = router_counters(Path(self.places[index].socket).with_name("metrics"))
        return counters is not None and counters["forwarded_frames_total"] > 0

    def all_forward(self) -> bool:
        """Whether messages of each host were relayed."""
        return all(self.forwards(index) for index in range(len(self.places)))

    def kill(self, index: int) -> None:
        """As by the kernel when memory runs out."""
        self.processes[index].kill()
        self.processes[index].communicate()

    def start_again(self, index: int) -> None:
        """At the same place; it knows the job again."""
        place = self.places[index]
        self.processes[index], _ = self._start(place.host, place.port)
        self._admit(index)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


@dataclasses.dataclass(frozen=True)
class KeptRouters:
    """Routers as a run starts them, which are started again when they end.

    Attributes:
        lines: What is reported of them.
    """

    key: str
    places: list[RouterPlace]
    lines: list[str]

    def pid(self, index: int) -> int:
        """The process of a router."""
        folder = str(Path(self.places[index].socket).parent).encode()
        found = []
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if file.read_bytes().split(b"\0")[-2:-1] == [folder]:
                    found.append(int(file.parent.name))
        (pid,) = found
        return pid

    def forwarded_frames(self, index: int) -> float:
        """Since the router was started; 0 while none runs."""
        counters = router_counters(Path(self.places[index].socket).with_name("metrics"))
        return counters["forwarded_frames_total"] if counters else 0.0

    def all_forward(self) -> bool:
        """Whether messages of each host were relayed."""
        return all(self.forwarded_frames(index) > 0 for index in range(len(self.places)))


@contextlib.contextmanager
def kept_running(mpirun: str, num_hosts: int) -> Iterator[KeptRouters]:
    """Those of a run on that many hosts, each an address of the loopback interface."""
    key, lines = new_key(), list[str]()
    addresses = [f"127.0.0.{index + 1}" for index in range(num_hosts)]
    with run_routers(detect(mpirun), addresses, key, report=lines.append) as found:
        places = [
            dataclasses.replace(place, host=host)
            for place, host in zip(found, hosts_of(num_hosts), strict=True)
        ]
        yield KeptRouters(key, places, lines)


@contextlib.contextmanager
def running(num_hosts: int, unreachable: int | None = None) -> Iterator[Routers]:
    """Routers of that many hosts, until the end of the block."""
    # Not pytest's folder: a socket's name may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="fl", ignore_cleanup_errors=True) as folder:
        routers = Routers(num_hosts, Path(folder), unreachable)
        try:
            yield routers
        finally:
            routers.end()


def write_plan(
    folder: Path,
    routers: Routers | KeptRouters,
    threshold_bytes: int,
    rule: str = RELAY_RULES[0],
    *,
    is_forced: bool = True,
) -> None:
    """A plan by which every message of at least this size may be relayed, or is."""
    network = uneven_network(len(routers.places))
    table = path_table(network)
    write_relay_plan(
        folder, network, table, routers.places, routers.key,
        threshold_bytes=threshold_bytes, is_forced=is_forced, rule=rule,
    )  # fmt: skip


def command(mpi: TracedMpi, num_ranks: int, plan: Path, *program: Path | str) -> list[str]:
    """The command line that runs a program with each rank on a host of its own."""
    launcher = detect(mpi.mpirun)
    env = {
        "LD_PRELOAD": str(find(launcher).intercept),
        "FAIRLEAD_PLAN": str(plan),
        # At the end, UCX under MPICH prints on stdout about truncated messages, without relays too.
        "UCX_LOG_LEVEL": "error",
    }
    spec = mpi.spec(num_ranks, ON_HOSTS, ",".join(hosts_of(num_ranks)), *program, **env)
    return launcher.prepare_command(spec, Path("/nonexistent"))
