# SPDX-License-Identifier: Apache-2.0
"""Rehearsals under three real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from busy_machine import measured_until
from launchers import MPIS, processes_with, wait_until
from probing import NAMES, find_ranks, hosts, rank_of, words_on

import fairlead as fl
from fairlead.act.launch import Launcher
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.rehearsal import MOST_STEP_BYTES, Rehearsal, rehearse

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]

FAST = 1e9


def network(num_hosts: int, bandwidth_Bps: float = FAST) -> fl.Network:
    rates_Bps = np.full((num_hosts, num_hosts), bandwidth_Bps)
    return fl.Network(NAMES[:num_hosts], np.zeros((num_hosts, num_hosts)), rates_Bps)


def traffic(sent_bytes: list[list[float]], messages: float = 10.0) -> fl.Traffic:
    sent = np.array(sent_bytes)
    return fl.Traffic(bytes=sent, messages=messages * (sent > 0))


def rehearsed(
    by: Launcher | ProbeProgram,
    sent: fl.Traffic,
    *hosts_of_rank: list[int],
    num_hosts: int = 3,
    bandwidth_Bps: float = FAST,
) -> Rehearsal:
    placements = [fl.Placement(NAMES[:num_hosts], np.array(one)) for one in hosts_of_rank]
    with by if isinstance(by, ProbeProgram) else ProbeProgram(by) as program:
        return rehearse(
            placements,
            sent,
            network(num_hosts, bandwidth_Bps),
            program,
            hosts(*NAMES[:num_hosts]),
            rehearsal_s=0.5,
            max_rounds=4,
        )


ALL_TO_ONE = [[0, 2e6, 0], [0, 0, 2e6], [2e6, 0, 0]]


def test_each_placement_is_timed_in_each_round(launcher: Launcher) -> None:
    found = rehearsed(launcher, traffic(ALL_TO_ONE), [0, 1, 2], [2, 1, 0])
    assert found.steps_s.shape[1] == 2
    assert 3 <= found.num_rounds <= 4
    assert np.all(found.steps_s > 0)
    assert found.num_steps == 10


def test_traffic_inside_a_host_is_not_sent(one_launcher: Launcher) -> None:
    found = rehearsed(one_launcher, traffic(ALL_TO_ONE), [0, 1, 2], [1, 1, 1])
    assert np.all(found.steps_s[:, 1] == 0)
    assert np.all(found.steps_s[:, 0] > 0)


def test_more_bytes_take_longer(one_launcher: Launcher) -> None:
    # On each host one of two ranks talks: 20 kB a step within hosts or 2 MB a step between them.
    sent = np.zeros((4, 4))
    sent[0, 1] = sent[1, 0] = 2e7
    sent[2, 3] = sent[3, 2] = 2e5

    def ratio() -> float:
        found = rehearsed(one_launcher, traffic(sent.tolist()), [0, 1, 2, 2], [2, 2, 0, 1])
        return float(np.median(found.steps_s[:, 0]) / np.median(found.steps_s[:, 1]))

    assert measured_until(lambda found: found > 3, ratio) > 3


def test_steps_of_a_slow_network_are_cut_into_smaller_ones(one_launcher: Launcher) -> None:
    # A step sends 200 kB, which at 1 MB/s takes 0.2 s: ten times what is rehearsed at once.
    found = rehearsed(one_launcher, traffic(ALL_TO_ONE), [0, 1, 2], bandwidth_Bps=1e6)
    assert found.num_steps == pytest.approx(100)


def test_a_step_fits_into_the_memory_whatever_rates_were_measured(one_launcher: Launcher) -> None:
    # A message of 4 GB, which at such a rate takes no time; two hosts, since each gets as much.
    sent = traffic([[0, 4e10], [0, 0]])
    found = rehearsed(one_launcher, sent, [0, 1], num_hosts=2, bandwidth_Bps=1e15)
    assert found.num_steps == pytest.approx(4e10 / MOST_STEP_BYTES, rel=0.01)
    assert found.num_rounds >= 3


def test_what_is_too_long_for_a_command_is_written_to_the_program(launcher: Launcher) -> None:
    program = ProbeProgram(launcher, most_argument_text=10)
    found = rehearsed(program, traffic(ALL_TO_ONE), [0, 1, 2], [2, 1, 0])
    assert found.num_rounds >= 3


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ("[[[0, 1]]]", "patterns[0][0]: expected [src, dst, bytes]"),
        ("[[[0, 1, 0]]]", "patterns[0][0]: a message has no bytes"),
        ("[[], [[0, 9, 5]]]", "patterns: there is no rank 9"),
        ("[[[1, 1, 5]]]", "patterns[0][0]: a host sends to itself"),
        ('[[["x", 1, 5]]]', "patterns[0][0][0]: expected a whole number from 0 to"),
        ("[[[0, 1, 99999999999]]]", "patterns[0][0][2]: expected a whole number from 0 to"),
        ("[]", "patterns: is empty"),
        ("[[[0, 1, 5]]", "is no whole JSON document: wrong at byte"),
    ],
)
def test_an_invalid_pattern_is_refused(order: str, problem: str, one_launcher: Launcher) -> None:
    words = words_on(f'{{"rehearsal": {{"patterns": {order}}}}}', one_launcher)
    assert "fairlead-probe: error order: " in words
    assert problem in words


def test_a_host_that_freezes_ends_the_rehearsal_and_leaves_nothing() -> None:
    tag = f"REHEARSAL_TEST={os.getpid()}"
    name, value = tag.split("=")
    program = f"""
import numpy as np, fairlead as fl
from fairlead.act.launch import detect
from fairlead.measure.probe_program import ProbeProgram
from fairlead.measure.rehearsal import rehearse
names = {NAMES[:3]!r}
sent = np.full((3, 3), 1e9)
rehearse([fl.Placement(names, np.arange(3))], fl.Traffic(bytes=sent, messages=sent > 0),
    fl.Network(names, np.zeros((3, 3)), np.full((3, 3), 1e9)),
    ProbeProgram(detect({MPIS["openmpi-4"].mpirun!r})), fl.Cluster.uniform(names, 1),
    rehearsal_s=60, max_rounds=100000, silence_timeout_s=2)
"""
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, name: value})
    wait_until(lambda: len(find_ranks(tag)) == 3, 60)
    time.sleep(1)  # Somewhere in the middle; every moment must do.
    os.kill(next(pid for pid in find_ranks(tag) if rank_of(pid) == 2), signal.SIGSTOP)
    # What was rehearsed before is handed over; in MPI_Init, nothing was, which is an error.
    assert process.wait() in {0, 1}
    wait_until(lambda: not processes_with(tag))
