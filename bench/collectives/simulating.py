# SPDX-License-Identifier: Apache-2.0
"""Runs the program that times collective operations, in SimGrid's SMPI."""

from __future__ import annotations

import dataclasses
import fcntl
import functools
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bound_process import run_bound

import fairlead as fl

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "simulated-collectives"

PLAIN = (
    "network/model:CM02",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "network/crosstraffic:no",
)
MODELS: dict[str, Sequence[str]] = {"plain": PLAIN, "smpi": ()}
"""Without SMPI's correction factors, and with its defaults (for Gigabit Ethernet with TCP)."""

FACTORS: dict[str, Sequence[tuple[float, float]]] = {
    "plain": (),
    "smpi": ((0.940694, 11.6436), (0.697866, 3.48845), (0.58729, 2.59299), (0.77493, 1.88101)),
}
"""By which a model multiplies the bandwidth and latency of a pair: SMPI's defaults, for messages of
at least 65472, 15424, 9376 and 3484 bytes."""

BLOCKS_TOGETHER = ("allgather", "reduce_scatter", "alltoall")
"""Operations whose size is that of all hosts' blocks together."""

SIZES_BYTES = (64 * 2**10, 2**20, 8 * 2**20)
"""Repeats of the comparisons."""

TIMED = re.compile(r"^timed (\w+) (\d+) \d+ (\S+) ([01])$", re.MULTILINE)
"""What the program prints of a call: operation, size, seconds, whether it is right."""

CPU_LIMIT_S = 900
"""A broken algorithm may run forever; a deadlock ends by itself. Messages between all pairs of 64
hosts, each pair with a rate of its own, take minutes."""


@dataclasses.dataclass(frozen=True)
class Call:
    """An operation to time.

    Attributes:
        size_bytes: The whole message of bcast, reduce and allreduce, the block of one rank of
            scatter and gather, and what a rank holds in all of the others.
    """

    operation: str
    size_bytes: int
    root: int = 0

    def message_bytes(self, num_hosts: int) -> int:
        """What `fl.collectives.plan` calls so."""
        is_whole = self.operation not in BLOCKS_TOGETHER
        return self.size_bytes if is_whole else self.size_bytes // num_hosts

    def __str__(self) -> str:
        return f"{self.operation}:{self.size_bytes}:{self.root}"


def calls_of(operation: str, sizes_bytes: Sequence[int] = SIZES_BYTES) -> list[Call]:
    """What an operation is timed with."""
    return [Call(operation, size) for size in ((0,) if operation == "barrier" else sizes_bytes)]


@functools.cache
def built(name: str) -> Path:
    """A program of CMakeLists.txt for SMPI; takes half a minute the first time.

    Raises:
        SystemExit: SMPI is not installed.
    """
    compiler = shutil.which("smpicxx")
    if compiler is None:
        raise SystemExit("SMPI is needed: apt install libsimgrid-dev")
    BUILD.mkdir(parents=True, exist_ok=True)
    configure = ["cmake", "-S", str(HERE), "-B", str(BUILD), f"-DCMAKE_CXX_COMPILER={compiler}"]
    # Two benchmarks that run at once share this folder.
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (configure, ["cmake", "--build", str(BUILD), "-j2", "--target", name]):
            run_bound(command)
    return BUILD / name


class OutOfTimeError(Exception):
    """A simulation did not end within its limit."""


@dataclasses.dataclass(frozen=True)
class Simulation:
    """The program on one cloud.

    Attributes:
        program: What `built` returned.
        platform: What `clouds.platform_of` wrote, with `hosts.txt` next to it.
        model: One of `MODELS`.
        cpu_limit_s: Limit on the processor time of each run.
    """

    program: Path
    platform: Path
    model: str
    cpu_limit_s: int = CPU_LIMIT_S

    @property
    def num_hosts(self) -> int:
        return len(self._hosts.read_text().split())

    @property
    def _hosts(self) -> Path:
        return self.platform.with_name("hosts.txt")

    def times_s(
        self, method: str, calls: Sequence[Call], settings: Sequence[str] = ()
    ) -> dict[Call, float | None]:
        """Simulated seconds of each call; None where it failed or delivered a wrong result.

        Args:
            method: `native`, `mpich2`, one of the program's own, or a file that `written` made,
                with a schedule for each call.
            calls: Each operation at most once with a size.
            settings: More of SMPI's, `NAME:VALUE`.

        Raises:
            OutOfTimeError: The run took more than `cpu_limit_s`.
        """
        found = {
            (operation, int(size_bytes)): float(time_s) if is_right == "1" else None
            for operation, size_bytes, time_s, is_right in TIMED.findall(
                self.output(method, calls, settings)
            )
        }
        return {call: found.get((call.operation, call.size_bytes)) for call in calls}

    def output(self, method: str, calls: Sequence[object], settings: Sequence[str]) -> str:
        """What the program prints; each call is given as its text."""
        configured = ("smpi/simulate-computation:no", *MODELS[self.model], *settings)
        command = [
            *("smpirun", "-np", str(self.num_hosts), "--log=root.t:error"),
            *("-platform", str(self.platform), "-hostfile", str(self._hosts)),
            *(f"--cfg={value}" for value in configured),
            *(str(self.program), method, *map(str, calls)),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, preexec_fn=self._limit_cpu
        )
        if done.returncode == 128 + signal.SIGXCPU:
            raise OutOfTimeError(f"{method} {settings}: more than {self.cpu_limit_s} s")
        return done.stdout

    def planned_s(self, plans: Mapping[Call, fl.Schedule]) -> dict[Call, float | None]:
        """The same of calls that follow a schedule each."""
        path = written(list(plans.values()), self.platform.with_name("schedules.json"))
        return self.times_s(str(path), list(plans))

    def _limit_cpu(self) -> None:
        # One second more before it is killed, so that the signal shows what ended it.
        limits_s = (self.cpu_limit_s, self.cpu_limit_s + 1)
        resource.setrlimit(resource.RLIMIT_CPU, limits_s)


def written(schedules: Sequence[fl.Schedule], path: Path) -> Path:
    """The path, with a list of schedules in the file."""
    path.write_text("[" + ",\n".join(schedule.to_json() for schedule in schedules) + "]\n")
    return path
