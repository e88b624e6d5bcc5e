# SPDX-License-Identifier: Apache-2.0
"""The emulated cloud in Python: start it, run something inside, end it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from fairlead.errors import InputError, LabError
from fairlead.files.package_folders import data_folder
from fairlead.lab import control, state
from fairlead.lab.addresses import LOGIN
from fairlead.lab.checking import WrongPair, check_rates
from fairlead.lab.checking_delays import WrongDelay, check_delays
from fairlead.lab.delaying import DelayBy
from fairlead.lab.environment import lab_environment
from fairlead.lab.host_quotas import remove_groups
from fairlead.lab.scenario import NAME_PATTERN, Scenario
from fairlead.lab.serving import KEEP
from fairlead.lab.topology import Matrix, Topology
from fairlead.narrator import Progress

__all__ = ["Lab"]

_SCRIPTS = data_folder("lab/scripts")
# What is killed has ended when the kernel has removed its interfaces, one after another with those
# of all other labs on the machine: many seconds on a busy one.
_END_TIMEOUTS_S = {signal.SIGTERM: 10, signal.SIGKILL: 300}


class Lab:
    """An emulated cloud that is up.

    Attributes:
        name: Its name, unique among the user's labs.
        hosts: Host names, length H, in the user's order.
        hostfile: Hosts and slots, in Open MPI's form.
        env: Variables with which any `mpirun` works inside.
    """

    def __init__(self, folder: Path, starter: subprocess.Popen[bytes] | None = None) -> None:
        """Use `Lab.up` or `Lab.attach`."""
        self._folder = folder
        # The process that started the holder. While its stdin is open, the lab ends with this
        # process.
        self._starter = starter
        self.name = folder.name
        self.hostfile = folder / "hostfile"
        self.env = lab_environment(folder)
        lines = self.hostfile.read_text().splitlines()
        self.hosts = tuple(line.split()[0] for line in lines)

    @classmethod
    def up(
        cls, scenario: Scenario | str | Path, name: str | None = None, hosts: int | None = None
    ) -> Lab:
        """Start a lab; it ends with the `with` block, or with this process.

        Args:
            scenario: A scenario, the name of one that comes with Fairlead, or a TOML file.
            name: Name of the lab; by default the scenario's, with a number if that is taken.
            hosts: Number of hosts, instead of the scenario's.

        Raises:
            InputError: The scenario or the name is wrong; the message names file and field.
            LabError: The name is taken, or this machine cannot make a lab; the message says what
                failed.
        """
        if name is not None and not re.fullmatch(NAME_PATTERN, name):
            raise InputError(
                f"lab name {name!r}: expected a letter or digit, then at most 40 letters, digits, "
                "'.', '_' or '-'"
            )
        if not isinstance(scenario, Scenario):
            scenario = Scenario.load(scenario, hosts)
        elif hosts is not None:
            scenario = Scenario.model_validate(scenario.model_dump() | {"hosts": hosts})
        folder, lock = state.claim(name or scenario.name, exact=name is not None)
        try:
            _furnish(folder, scenario)
            return cls(folder, _start_holder(folder, lock, scenario))
        except BaseException:
            remove_groups(folder)
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            os.close(lock)

    @classmethod
    def attach(cls, name: str) -> Lab:
        """A lab that another process started; leaving a `with` block does not end it.

        Raises:
            LabError: There is no such lab.
        """
        return cls(state.lab_folder(name))

    def keep(self) -> None:
        """Keep the lab after the end of this process, until `down`."""
        if self._starter is not None and self._starter.stdin is not None:
            self._starter.stdin.write(KEEP)
            self._starter.stdin.close()
            self._starter = None

    def command(self, argv: Sequence[str], host: str = LOGIN) -> list[str]:
        """Command line that runs `argv` in the lab, in the caller's working directory.

        Args:
            argv: Program and arguments.
            host: One of `hosts`, or "login": the head node, where `mpirun` runs.

        Raises:
            LabError: There is no such host.
        """
        if host not in (*self.hosts, LOGIN):
            raise LabError(
                f"lab {self.name!r}: unknown host {host!r}; there are {', '.join(self.hosts)} "
                f"and {LOGIN}"
            )
        return [str(self._folder / "enter"), host, *argv]

    def run(
        self, argv: Sequence[str], host: str = LOGIN, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """`subprocess.run` in the lab, with `env` set; `options` are those of `subprocess.run`."""
        options["env"] = {**(options.get("env") or os.environ), **self.env}
        return subprocess.run(
            self.command(argv, host), check=options.pop("check", False), **options
        )

    def topology(self) -> Topology:
        """The current shaped network."""
        return Topology.from_json(control.ask(self._folder, do="topology"))

    def shaped_Bps(self) -> Matrix:
        """Current shaped rate of each pair without other traffic.

        Returns:
            Bytes per second on the wire, shape (H, H), [src, dst], in the order of `hosts`;
            diagonal `inf`, 0 where a pair is cut.
        """
        return self.topology().shaped_Bps()

    def delay_s(self) -> Matrix:
        """One-way delay of each pair in addition to this machine's own latency.

        Returns:
            Seconds, shape (H, H), [src, dst], in the order of `hosts`; diagonal 0.
        """
        return self.topology().delay_s

    def delay_by(self) -> DelayBy:
        """How packets are delayed on this machine."""
        return DelayBy(control.ask(self._folder, do="delay_by")["delay_by"])

    def degrade(self, src: str, dst: str, ratio: float) -> None:
        """Multiply the shaped rate of a directed pair by `ratio`; 0 cuts it permanently.

        Raises:
            InputError: A host is unknown, or the ratio is negative.
        """
        control.ask(self._folder, do="degrade", src=src, dst=dst, ratio=ratio)

    def slow_host(self, host: str, ratio: float) -> None:
        """Let a host compute at a part of its speed, by a cgroup's quota; 1 is the whole speed.

        From the first call on each host has its own share of this machine's processors, and no
        more: 0.9 of them over the number of hosts.

        Raises:
            InputError: The host is unknown, or the ratio is not in (0, 1].
            LabError: Cgroups cannot be written here.
        """
        control.ask(self._folder, do="slow", host=host, ratio=ratio)

    def cut_host(self, host: str) -> None:
        """Drop all packets from and to a host, as if it had crashed.

        Raises:
            InputError: The host is unknown.
        """
        control.ask(self._folder, do="cut", host=host)

    def add_load(self, one: str, other: str) -> None:
        """Let two hosts send to one another without a pause, until `end_loads` or the lab's end.

        Raises:
            InputError: A host is unknown, or both are the same.
        """
        control.ask(self._folder, do="load", src=one, dst=other)

    def end_loads(self) -> int:
        """End the traffic of `add_load`; returns the number of pairs."""
        num_pairs: int = control.ask(self._folder, do="end loads")["num_pairs"]
        return num_pairs

    def link_counters(self) -> dict[str, Any]:
        """Counters of the links of a torus: `ports` they come in by, `bytes`, `stalled_s`, `at_s`.

        Raises:
            InputError: There is no torus.
        """
        return control.ask(self._folder, do="links")

    def check(self, on_progress: Progress | None = None) -> tuple[Matrix, list[WrongPair]]:
        """Compare rates with quick transfers; meaningful while nothing else runs in the lab.

        Returns:
            Bytes per second on the wire, shape (H, H), [src, dst], `nan` where not measured, and
            the pairs that differ by more than a tenth from their shaped rate.
        """
        return check_rates(self.topology(), self.stream_Bps, on_progress)

    def stream_Bps(
        self, pairs: Sequence[tuple[int, int]], warm_up_s: float, seconds: float
    ) -> list[float]:
        """Run TCP streams at the same time.

        Args:
            pairs: Sending and receiving host, by their numbers.
            warm_up_s: Time before counting starts.
            seconds: Time for which to count.

        Returns:
            Payload bytes per second of each; 0 where the hosts do not reach each other.
        """
        reply = control.ask(
            self._folder, do="measure", pairs=pairs, warm_up_s=warm_up_s, seconds=seconds
        )
        rates_Bps: list[float] = reply["Bps"]
        return rates_Bps

    def ping(self, pairs: Sequence[tuple[int, int]], repeats: int) -> list[list[float]]:
        """Time single packets, one way.

        Args:
            pairs: Sending and receiving host, by their numbers.
            repeats: Packets per pair.

        Returns:
            Seconds in transit of each packet that arrived, per pair.
        """
        times_s: list[list[float]] = control.ask(
            self._folder, do="ping", pairs=pairs, repeats=repeats
        )["s"]
        return times_s

    def check_delays(self) -> tuple[Matrix, list[WrongDelay]]:
        """Compare delays with single packets; meaningful while nothing else runs in the lab.

        Returns:
            Shortest one-way time in seconds, shape (H, H), [src, dst], `nan` where not measured,
            and the pairs that differ too much from their delay.
        """
        return check_delays(self.topology(), self.ping)

    def down(self) -> None:
        """End the lab: on return all its processes, namespaces and links have ended."""
        pid = _holder_pid(self._folder)
        if pid is not None and state.is_alive(self._folder):
            with contextlib.suppress(ProcessLookupError):
                _end(pid)
        if self._starter is not None and self._starter.stdin is not None:
            self._starter.stdin.close()
            self._starter.wait()
            self._starter = None
        remove_groups(self._folder)
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._starter is not None:
            self.down()


def _furnish(folder: Path, scenario: Scenario) -> None:
    """Write the files for hosts and users into the lab's folder."""
    for script in _SCRIPTS.iterdir():
        shutil.copyfile(script, folder / script.name)
        (folder / script.name).chmod(0o755)
    (folder / "tmp").mkdir()
    lines = [f"{host} slots={scenario.slots}\n" for host in scenario.host_names]
    (folder / "hostfile").write_text("".join(lines))
    environment = lab_environment(folder)
    exports = [f"export {name}={shlex.quote(value)}\n" for name, value in environment.items()]
    (folder / "env").write_text("".join(exports))


def _start_holder(folder: Path, lock: int, scenario: Scenario) -> subprocess.Popen[bytes]:
    """Start the holder process of the lab; closing its stdin ends it."""
    new = ["--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        new += ["--user", "--map-root-user"]
    unshare = shutil.which("unshare")
    if unshare is None:
        raise LabError("a lab needs the programs unshare, nsenter and setpriv (util-linux)")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [unshare, *new, sys.executable, "-m", "fairlead.lab.holder", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=[lock],
            start_new_session=True,
            cwd="/",
        )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(scenario.model_dump_json().encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BaseException:
        process.kill()
        process.stdin.close()
        process.wait()
        raise
    finally:
        process.stdout.close()
    problem = json.loads(line).get("error") if line else (folder / "log").read_text().strip()
    if not line or problem:
        process.stdin.close()
        process.wait()
        raise LabError(f"lab {folder.name!r}: cannot be built here: {problem or 'holder died'}")
    return process


def _holder_pid(folder: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int((folder / "holder").read_text().split()[0].removeprefix("pid="))
    return None


def _end(pid: int) -> None:
    """End the holder and wait until the kernel has ended all processes of the lab."""
    process = os.pidfd_open(pid)
    try:
        for number, timeout_s in _END_TIMEOUTS_S.items():
            signal.pidfd_send_signal(process, number)
            if select.select([process], [], [], timeout_s)[0]:
                return
    finally:
        os.close(process)
    raise LabError(f"process {pid}, which holds a lab, does not end")
