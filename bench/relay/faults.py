#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kill, stop and cut routers at random while a program sends by them; check every payload's hash.

`faults.c` runs on 8 ranks of 4 hosts of the emulated cloud; all its messages between hosts of at
least 1 KiB are relayed. In each of its rounds, at a random moment, a router is

    killed    and started again after up to 0.5 s
    paused    by SIGSTOP, and goes on after up to 1.5 s
    hung      by SIGSTOP; it goes on no more: when the round has ended all the same, it is replaced
    cut off   for up to 1 s: its host's interface is down, for the MPI as well

A round that does not end within two minutes counts as a hang, and ends the run.

python bench/relay/faults.py     1,000 rounds, some half an hour; --short for 4
"""

from __future__ import annotations

import argparse
import json
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from clouds import MPIRUN, compiled

from fairlead.act import mpi_builds
from fairlead.act.launch import LaunchSpec, detect
from fairlead.act.launch.hostfile import read_hostfile
from fairlead.act.plan.relay import RouterPlace, new_key, write_relay_plan
from fairlead.act.preload import preload_variables
from fairlead.act.relay.counters import router_counters
from fairlead.act.relay.routers import router_program
from fairlead.decide.host_paths import path_table
from fairlead.lab import Lab, Scenario
from fairlead.lab.addresses import address_of_host
from fairlead.model.network import Network

NUM_HOSTS, SLOTS = 4, 2
THRESHOLD_BYTES = 1024
PORT = 4000
HANG_S = 120.0
KINDS = ("killed", "paused", "hung", "cut off")


class LabRouters:
    """A router on each host of a lab, which can be disturbed."""

    def __init__(self, lab: Lab, folder: Path):
        self.key = new_key()
        self.places = [
            RouterPlace(host, address_of_host(index), PORT, f"{folder}/{host}/router")
            for index, host in enumerate(lab.hosts)
        ]
        self._lab = lab
        self._folder = folder
        self._processes = [self._started(index) for index in range(len(lab.hosts))]

    def _started(self, index: int) -> subprocess.Popen[str]:
        place = self.places[index]
        argv = [str(router_program()), "--listen", f"{place.address}:{PORT}",
                "--folder", str(self._folder / place.host)]  # fmt: skip
        process = subprocess.Popen(
            self._lab.command(argv, place.host),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        peers = [[each.address, each.port] for each in self.places]
        process.stdin.write(json.dumps({"key": self.key, "host": index, "peers": peers}) + "\n")
        process.stdin.flush()
        said = [process.stdout.readline() for _ in range(2)]
        if json.loads(said[1] or "{}") != {"job": "taken"}:
            raise SystemExit(f"the router of {place.host} did not start: {said}")
        return process

    def signal(self, index: int, number: signal.Signals) -> None:
        os.kill(_below(self._processes[index].pid, str(router_program())), number)

    def resume(self, index: int) -> None:
        self.signal(index, signal.SIGCONT)
        self._processes[index].send_signal(signal.SIGCONT)

    def kill(self, index: int) -> None:
        self.signal(index, signal.SIGKILL)
        process = self._processes[index]
        # nsenter has stopped itself if its child was stopped.
        while process.poll() is None:
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        process.communicate()

    def start_again(self, index: int) -> None:
        """At the same place; it knows the job again."""
        self._processes[index] = self._started(index)

    def set_link(self, index: int, state: str) -> None:
        host = self.places[index].host
        self._lab.run(["ip", "link", "set", "eth0", state], host, check=True)

    def delivered_bytes(self) -> float:
        """To processes, by the routers as they were started last."""
        found = [router_counters(Path(place.socket).with_name("metrics")) for place in self.places]
        return sum((each or {}).get("delivered_bytes_total", 0.0) for each in found)

    def end(self) -> None:
        for process in self._processes:
            process.stdin.close()
            process.wait()
            process.stdout.close()


def _below(pid: int, program: str) -> int:
    """The descendant that runs a program: commands enter the lab by others."""
    pending = [pid]
    while pending:
        current = pending.pop()
        if Path(f"/proc/{current}/cmdline").read_bytes().split(b"\0")[0] == program.encode():
            return current
        children = Path(f"/proc/{current}/task/{current}/children").read_text().split()
        pending += [int(child) for child in children]
    raise SystemExit(f"no {program} below process {pid}")


class Program:
    """The running `faults.c`."""

    def __init__(self, process: subprocess.Popen[str]):
        self._process = process
        self._selector = selectors.DefaultSelector()
        self._selector.register(process.stdout, selectors.EVENT_READ)

    def begin_round(self, seed: int) -> None:
        self._process.stdin.write(f"{seed}\n")
        self._process.stdin.flush()

    def is_done(self, wait_s: float) -> bool:
        return bool(self._selector.select(max(wait_s, 0.0)))

    def result(self) -> tuple[int, int]:
        """Number of messages of the round, and of wrong ones among them."""
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the program has ended before its time")
        num_messages, num_wrong = map(int, line.split())
        return num_messages, num_wrong

    def end(self) -> None:
        self._process.stdin.close()
        if self._process.wait(HANG_S) != 0:
            raise SystemExit("the program has failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="4 rounds, one of each kind")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        become_program(json.loads(options.inside))
    cloud = {"name": "faults", "hosts": NUM_HOSTS, "slots": SLOTS, "nic": "800Mbit/s"}
    with (
        tempfile.TemporaryDirectory(prefix="fl") as name,
        Lab.up(Scenario.model_validate(cloud)) as lab,
    ):
        routers = LabRouters(lab, Path(name))
        with running(lab, routers, Path(name)) as program:
            disturb(routers, program, len(KINDS) if options.short else options.rounds, options.seed)
        routers.end()


@contextmanager
def running(lab: Lab, routers: LabRouters, folder: Path) -> Iterator[Program]:
    """The program, whose every message goes by routers."""
    rates = lab.shaped_Bps()
    latency_s = np.where(np.eye(NUM_HOSTS), 0.0, 1e-4)
    network = Network(lab.hosts, latency_s, rates)
    write_relay_plan(
        folder / "plan", network, path_table(network), routers.places, routers.key,
        threshold_bytes=THRESHOLD_BYTES, is_forced=True,
    )  # fmt: skip
    request = {
        "program": str(compiled(Path(__file__).with_suffix(".c"), folder)),
        "hostfile": str(lab.hostfile), "folder": str(folder),
    }  # fmt: skip
    command = [sys.executable, __file__, "--inside", json.dumps(request)]
    process = subprocess.Popen(
        lab.command(command), env={**os.environ, **lab.env, **MPIRUN},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    program = Program(process)
    yield program
    program.end()


def become_program(request: dict[str, str]) -> None:
    """On the head node."""
    launcher = detect()
    plan = str(Path(request["folder"]) / "plan")
    env = preload_variables({}, mpi_builds.find(launcher).intercept, FAIRLEAD_PLAN=plan)
    hosts = read_hostfile(Path(request["hostfile"]))
    spec = LaunchSpec((request["program"],), NUM_HOSTS * SLOTS, hosts, env=env)
    argv = launcher.prepare_command(spec, Path(request["folder"]))
    os.execvp(argv[0], argv)


def disturb(routers: LabRouters, program: Program, num_rounds: int, seed: int) -> None:
    """Run the rounds, each with one fault, and print what came of them."""
    chance = random.Random(seed)
    faults: Counter[str] = Counter()
    num_messages = num_wrong = num_hangs = num_done = 0
    longest_s = 0.0
    # Faults before the program relays would leave it without relays.
    program.begin_round(chance.getrandbits(62) + 1)
    program.result()
    for number in range(num_rounds):
        # Each kind comes as often as the others, on each host as often as on the others.
        kind = KINDS[number % len(KINDS)]
        victim = number // len(KINDS) % NUM_HOSTS
        start_s = time.monotonic()
        program.begin_round(chance.getrandbits(62) + 1)
        program.is_done(chance.uniform(0.0, 0.2))
        faults[kind] += 1
        has_ended = one_fault(routers, program, kind, victim, chance)
        if not has_ended:
            num_hangs += 1
            break
        longest_s = max(longest_s, time.monotonic() - start_s)
        messages, wrong = program.result()
        num_messages += messages
        num_wrong += wrong
        num_done += 1
    counts = ", ".join(f"{faults[kind]} {kind}" for kind in KINDS)
    print(
        f"{num_done} rounds, routers {counts}: {num_messages} messages, {num_wrong} wrong, "
        f"{num_hangs} hangs; the longest round took {longest_s:.1f} s, and the latest routers had "
        f"delivered {routers.delivered_bytes() / 1e6:.0f} MB",
        flush=True,
    )
    if num_wrong or num_hangs:
        raise SystemExit(1)


def one_fault(
    routers: LabRouters, program: Program, kind: str, victim: int, chance: random.Random
) -> bool:
    """Begin and end a fault. Returns whether the round has ended, too."""
    deadline_s = time.monotonic() + HANG_S
    if kind == "killed":
        routers.kill(victim)
        time.sleep(chance.uniform(0.0, 0.5))
        routers.start_again(victim)
    elif kind == "paused":
        routers.signal(victim, signal.SIGSTOP)
        time.sleep(chance.uniform(0.1, 1.5))
        routers.resume(victim)
    elif kind == "hung":
        routers.signal(victim, signal.SIGSTOP)
    else:
        routers.set_link(victim, "down")
        time.sleep(chance.uniform(0.1, 1.0))
        routers.set_link(victim, "up")
    has_ended = program.is_done(deadline_s - time.monotonic())
    if kind == "hung":
        routers.kill(victim)
        routers.start_again(victim)
    return has_ended


if __name__ == "__main__":
    main()
