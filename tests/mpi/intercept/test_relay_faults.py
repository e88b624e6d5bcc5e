# SPDX-License-Identifier: Apache-2.0
"""Routers are killed, stopped and started again at random: the program notices a delay only."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from relaying import Routers, command, running, write_plan
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


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_router_that_never_goes_on_loses_no_message(
    name: str, victim: int, tmp_path: Path
) -> None:
    with running(NUM_RANKS) as routers:
        write_plan(tmp_path, routers, 1024)
        routers.processes[victim].send_signal(signal.SIGSTOP)
        argv = command(MPIS[name], NUM_RANKS, tmp_path, MPIS[name].build("relayed.c"))
        done = subprocess.run(argv, capture_output=True, text=True, check=False)

    complaints = [line for line in done.stderr.splitlines() if "fairlead" in line]
    assert (done.returncode, done.stdout, complaints) == (0, "ok\n", [])


@pytest.mark.parametrize("name", ["openmpi-4", "mpich-4"])
def test_no_fault_of_a_router_loses_or_changes_a_message(name: str, tmp_path: Path) -> None:
    mpi = MPIS[name]
    chance = random.Random(1)
    with running(NUM_RANKS) as routers:
        write_plan(tmp_path, routers, 1024)
        program = mpi.build("relayed.c")
        argv = command(mpi, NUM_RANKS, tmp_path, program, "rounds", str(NUM_ROUNDS))
        started = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        num_faults = 0
        while started.poll() is None:
            disturb(routers, chance)
            num_faults += 1
        output = started.communicate()[0]
    assert (started.returncode, output) == (0, "ok\n")
    assert num_faults > 1
