# SPDX-License-Identifier: Apache-2.0
"""Routers are killed, stopped and started again: the program notices a delay only.

Without a router or another process that it needs from its beginning it runs without relays.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from relaying import (
    NOWHERE,
    KeptRouters,
    Routers,
    command,
    kept_running,
    running,
    write_plan,
)
from tracing import MPIS

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

NUM_RANKS = 3
NUM_ROUNDS = int(os.environ.get("FAIRLEAD_FAULT_ROUNDS", "50"))  # More: a longer run.


def disturb(routers: Routers, chance: random.Random) -> None:
    """One fault, and its end after a while."""
    victim = chance.randrange(NUM_RANKS)
    process = routers.processes[victim]
    if chance.random() < 0.5:
        process.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(0.1, 1.5))
        process.send_signal(signal.SIGCONT)
    else:
        routers.kill(victim)
        time.sleep(chance.uniform(0.0, 1.0))
        routers.start_again(victim)


@contextlib.contextmanager
def relayed_program(
    name: str, routers: Routers | KeptRouters, folder: Path, *words: str
) -> Iterator[subprocess.Popen[str]]:
    """The program when it sends by each of the routers."""
    write_plan(folder, routers, 1024)
    argv = command(MPIS[name], NUM_RANKS, folder, MPIS[name].build("relayed.c"), *words)
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        while not routers.all_forward():
            assert started.poll() is None, started.communicate()
            time.sleep(0.01)
        yield started


def outcome(started: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Exit code and output of the program, and what the library complains of."""
    output, errors = started.communicate()
    return started.returncode, output, [line for line in errors.splitlines() if "fairlead" in line]


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_router_that_never_goes_on_loses_no_message(
    name: str, victim: int, tmp_path: Path
) -> None:
    with running(NUM_RANKS) as routers, relayed_program(name, routers, tmp_path) as started:
        routers.processes[victim].send_signal(signal.SIGSTOP)
        assert outcome(started) == (0, "ok\n", [])


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_a_program_whose_routers_have_all_ended_finds_its_receivers(
    name: str, tmp_path: Path
) -> None:
    with running(NUM_RANKS) as routers, relayed_program(name, routers, tmp_path) as started:
        routers.end()
        assert outcome(started) == (0, "ok\n", [])


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_a_program_that_cannot_reach_a_host_runs_without_relays(name: str, tmp_path: Path) -> None:
    with running(NUM_RANKS, unreachable=1) as routers:
        write_plan(tmp_path, routers, 1024)
        # Some of the program's calls go wrong with MPICH alone, so not all are made.
        words = (MPIS[name].build("relayed.c"), "rounds", "5")
        argv = command(MPIS[name], NUM_RANKS, tmp_path, *words)
        with subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as started:
            code, output, complaints = outcome(started)

    assert (code, output, len(complaints)) == (0, "ok\n", 1), complaints
    expected = f"no message is relayed: host 'host0' could not reach .* 'host1' at {NOWHERE}"
    assert re.search(expected, complaints[0])


@pytest.mark.parametrize("name", ["openmpi-4", "openmpi-5", "mpich-4"])
def test_messages_go_by_a_router_again_that_was_killed_and_started_again(
    name: str, tmp_path: Path
) -> None:
    words = ("rounds", str(4 * NUM_ROUNDS))
    mpi = MPIS[name]
    with (
        kept_running(mpi.mpirun, NUM_RANKS) as routers,
        relayed_program(name, routers, tmp_path, *words) as started,
    ):
        # Each is a sender's, a receiver's and, for the pair of the others, one between.
        for victim in range(NUM_RANKS):
            former = routers.pid(victim)
            os.kill(former, signal.SIGKILL)
            # Its counters begin anew.
            while len(routers.lines) <= victim or routers.forwarded_frames(victim) == 0:
                assert started.poll() is None, started.communicate()
                time.sleep(0.01)
        assert outcome(started) == (0, "ok\n", [])
    expected = "relays: the router of 127.0.0.{} had ended and was started again"
    assert routers.lines == [expected.format(victim + 1) for victim in range(NUM_RANKS)]
    assert not any(Path(place.socket).parent.exists() for place in routers.places)


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_no_fault_of_a_router_loses_or_changes_a_message(name: str, tmp_path: Path) -> None:
    chance = random.Random(1)
    words = ("rounds", str(NUM_ROUNDS))
    with running(NUM_RANKS) as routers, relayed_program(name, routers, tmp_path, *words) as started:
        num_faults = 0
        while started.poll() is None:
            disturb(routers, chance)
            num_faults += 1
        assert outcome(started) == (0, "ok\n", [])
    assert num_faults > 1
