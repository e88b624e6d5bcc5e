#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a router costs that forwards between two others, on the loopback interface.

Through it and, in turns, through a bare loop of splice(2) by a pipe of 1 MiB, one by a pipe as the
system makes it (plain-splice), and one that copies, go the same frames: GB for each second of
processor time of what forwards, and how long a message takes that is sent to and fro, by way of
each and without any. With --before an earlier router takes turns, too.

All of this runs in a network namespace of its own, with the congestion control of Linux's default
if the kernel allows, as what forwarding costs depends much on it.

With --network 400Mbit/s it forwards on a host of the emulated cloud, between interfaces of this
rate; printed is how long a message takes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
from busy import busy

from fairlead.flows.compare.statistics import Interval, mean_interval
from fairlead.lab import Lab, Scenario
from fairlead.lab.addresses import address_of_host

ROOT = Path(__file__).parents[2]
LOOPS = ("splice", "plain-splice", "copy")
KEY = "01" * 32
HEADER_BYTES = 88
SEGMENT_BYTES = 65536
PINGPONG_BYTES = 65536
Forwarder = Callable[[list[int]], contextlib.AbstractContextManager[str]]


@dataclass(frozen=True)
class Place:
    """Where something runs: its address, and the words that enter its host."""

    address: str = "127.0.0.1"
    enter: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """The programs, and where they run."""

    program: Path
    folder: Path
    routers: dict[str, Path]
    ends: Place = Place()
    middle: Place = Place()

    @property
    def ways(self) -> tuple[str, ...]:
        return (*self.routers, *LOOPS)

    def ends_command(self, *words: str) -> list[str]:
        """Command of the program that sends and receives."""
        places = (self.ends.address, self.middle.address)
        return [*self.ends.enter, str(self.program), *places, *words]

    def loop_command(self, *words: str) -> list[str]:
        """Command of the program that forwards."""
        places = (self.middle.address, self.ends.address)
        return [*self.middle.enter, str(self.program), *places, "loop", *words]


CONGESTION_CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")
ENTERED = "FAIRLEAD_BENCH_ENTERED"
"""Set in the network namespace."""


def main() -> None:
    options = parsed()
    if not options.network and ENTERED not in os.environ:
        enter_network(options.congestion_control)
    console = Console(width=140)
    routers = {"router": options.router}
    if options.before:
        routers["before"] = options.before
    with tempfile.TemporaryDirectory(prefix="fl") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        stack.enter_context(busy(options.load))
        measurement = Measurement(compiled(folder), folder, routers)
        if options.network:
            lab = stack.enter_context(
                Lab.up(Scenario.model_validate({"name": "hop", "hosts": 2, "nic": options.network}))
            )
            ends, middle = (
                Place(address_of_host(index), tuple(lab.command([], host)))
                for index, host in enumerate(lab.hosts)
            )
            measurement = replace(measurement, ends=ends, middle=middle)
        else:
            console.print(f"TCP with {CONGESTION_CONTROL.read_text().strip()}:")
            for payload_bytes in options.bytes:
                report_rates(console, payload_bytes, rates_of(measurement, payload_bytes, options))
        report_times(console, times_of(measurement, options))


def enter_network(congestion_controls: list[str]) -> None:
    """Runs this program again in a network namespace of its own, where one of these is set."""
    names = shlex.join(congestion_controls)
    script = f"""
        set -e
        ip link set lo up
        for each in {names}; do
            (echo "$each" >{CONGESTION_CONTROL}) 2>/dev/null && exec "$@"
        done
        echo "this kernel refuses" {names} >&2
        exit 1
    """
    words = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", script, "sh"]
    words += [sys.executable, *sys.argv]
    os.execvpe(words[0], words, os.environ | {ENTERED: "1"})


def rates_of(
    measurement: Measurement, payload_bytes: int, options: argparse.Namespace
) -> dict[str, list]:
    """What each way moves of messages of this size."""
    rates = {way: [] for way in measurement.ways}
    for repeat in range(options.repeats):
        for way in measurement.ways[:: 1 if repeat % 2 else -1]:
            start = forwarder(measurement, way, payload_bytes)
            rates[way].append(bulk(measurement, start, payload_bytes, options.total))
    return rates


def times_of(
    measurement: Measurement, options: argparse.Namespace
) -> dict[str, list[tuple[float, float]]]:
    """How long a message takes by each way, and how much processor time of what forwards."""
    # Both ends are on one host, so in a network the direct way would not take it.
    others = () if options.network else ("direct",)
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in (*measurement.ways, *others)}
    chunk_bytes = PINGPONG_BYTES + HEADER_BYTES * (PINGPONG_BYTES // SEGMENT_BYTES)
    for repeat in range(options.repeats):
        for way in list(times)[:: 1 if repeat % 2 else -1]:
            start = forwarder(measurement, way, chunk_bytes)
            times[way].append(pingpong(measurement, start, options.rounds))
    return times


def compiled(folder: Path) -> Path:
    program = folder / "forwarding"
    sources = [Path(__file__).with_suffix(".cpp"), ROOT / "relay/wire/frame.cpp"]
    sources.append(ROOT / "relay/wire/proof.cpp")
    includes = [f"-I{ROOT / 'relay'}", f"-I{ROOT / 'core/include'}"]
    command = ["g++", "-std=c++20", "-O2", *includes, *sources, "-o", program, "-ldl", "-pthread"]
    subprocess.run(command, check=True)
    return program


def bulk(
    measurement: Measurement, start: Forwarder, payload_bytes: int, total_bytes: int
) -> tuple[float, float]:
    """GB per second of processor time, and per second."""
    command = measurement.ends_command("bulk", str(payload_bytes), str(total_bytes))
    with started(command) as ends:
        port = int(ends.stdout.readline())
        with start([port]) as middle:
            sent_bytes, took_s, cpu_s = map(float, answer(ends, middle).split())
    return sent_bytes / cpu_s / 1e9, sent_bytes / took_s / 1e9


def pingpong(measurement: Measurement, start: Forwarder, rounds: int) -> tuple[float, float]:
    """Seconds one way, the median, and the processor time, the mean."""
    command = measurement.ends_command("pingpong", str(PINGPONG_BYTES), str(rounds))
    with started(command) as ends:
        back_port, port = map(int, ends.stdout.readline().split())
        with start([port, back_port]) as middle:
            took_s, cpu_s = map(float, answer(ends, middle).split())
            return took_s, cpu_s


def answer(ends: subprocess.Popen, middle: str) -> str:
    ends.stdin.write(middle + "\n")
    ends.stdin.flush()
    line = ends.stdout.readline()
    if not line:
        raise SystemExit("the ends of the measurement have ended early")
    return line


def forwarder(measurement: Measurement, way: str, chunk_bytes: int) -> Forwarder:
    """What starts it, so that it forwards to the first port, and back to the second."""
    if way == "direct":
        return lambda _: contextlib.nullcontext("0 0 0")
    if way in LOOPS:
        return partial(started_loop, measurement.loop_command(way, str(chunk_bytes)))
    return partial(started_router, measurement, measurement.routers[way])


@contextlib.contextmanager
def started_loop(command: list, ports: list[int]) -> Iterator[str]:
    with started([*command, *map(str, ports)]) as loop:
        yield f"{int(loop.stdout.readline())} {loop.pid} 0"


@contextlib.contextmanager
def started_router(measurement: Measurement, program: Path, ports: list[int]) -> Iterator[str]:
    ends, middle = measurement.ends, measurement.middle
    words = ["--listen", f"{middle.address}:0", "--folder", str(measurement.folder / "router")]
    with started([*middle.enter, str(program), *words]) as router:
        port = json.loads(router.stdout.readline())["port"]
        peers = [
            [ends.address, ports[-1]],
            [middle.address, port],
            [ends.address, ports[0]],
        ]
        router.stdin.write(json.dumps({"key": KEY, "host": 1, "peers": peers}) + "\n")
        router.stdin.flush()
        router.stdout.readline()
        yield f"{port} {router.pid} 1"


@contextlib.contextmanager
def started(command: list) -> Iterator[subprocess.Popen]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def router_program() -> Path:
    return Path(find_spec("fairlead").submodule_search_locations[0]) / "_router/fairlead-router"


def report_rates(console: Console, payload_bytes: int, rates: dict[str, list]) -> None:
    per_cpu = {way: np.array(rates[way])[:, 0] for way in rates}
    per_second = {way: np.array(rates[way])[:, 1] for way in rates}
    console.print(
        f"{payload_bytes // 1024} KiB, GB per CPU-second (GB/s): "
        + ", ".join(
            f"{way} {text(per_cpu[way], '.2f')} ({np.mean(per_second[way]):.2f})" for way in rates
        )
    )
    console.print(
        "  router, as part of "
        + ", ".join(f"{loop}: {text(per_cpu['router'] / per_cpu[loop], '.2f')}" for loop in LOOPS)
        + " (wanted of splice: 0.85)"
    )


def report_times(console: Console, times: dict[str, list[tuple[float, float]]]) -> None:
    in_us = {way: 1e6 * np.array(times[way])[:, 0] for way in times}
    used_us = {way: 1e6 * np.array(times[way])[:, 1] for way in times if way != "direct"}
    console.print(
        f"{PINGPONG_BYTES // 1024} KiB to and fro, one way: "
        + ", ".join(f"{way} {text(in_us[way], '.1f')} us" for way in times)
    )
    console.print(
        "  processor time of what forwards: "
        + ", ".join(f"{way} {text(used, '.1f')} us" for way, used in used_us.items())
    )
    if "direct" not in times:
        return
    console.print(
        "  added by one hop: "
        + ", ".join(
            f"{way} {text(in_us[way] - in_us['direct'], '.1f')} us"
            for way in times
            if way != "direct"
        )
        + " (wanted of a router: 20 us)"
    )


def text(values: np.ndarray, form: str) -> str:
    mean = mean_interval(values.tolist()) if len(values) > 1 else Interval(values[0], 0.0, 0.0)
    return f"{mean.value:{form}} [{mean.low:{form}}, {mean.high:{form}}]"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="64 KiB, 2 repeats of 0.2 GB")
    parser.add_argument("--router", type=Path, default=router_program(), help="the installed one")
    parser.add_argument("--before", type=Path, help="an earlier router")
    parser.add_argument("--bytes", type=int, nargs="+", default=[1 << 16, 1 << 18, 1 << 20])
    parser.add_argument("--total", type=int, default=4_000_000_000, help="of each run, bytes")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=4000, help="to and fro")
    parser.add_argument("--load", type=int, default=0, help="processes that compute meanwhile")
    parser.add_argument(
        "--congestion-control", nargs="+", default=["cubic", "reno"],
        help="of TCP on loopback, the first that this kernel lets an ordinary user take",
    )  # fmt: skip
    parser.add_argument("--network", help="rate of the interfaces of an emulated cloud")
    options = parser.parse_args()
    if options.short:
        options.bytes, options.repeats = [1 << 16], 2
        options.total, options.rounds = 200_000_000, 200
    return options


if __name__ == "__main__":
    main()
