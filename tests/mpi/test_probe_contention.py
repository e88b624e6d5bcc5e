# SPDX-License-Identifier: Apache-2.0
"""Flows run together under three real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from launchers import MPIS, agent_environment, processes_with, wait_until
from test_probe import NAMES, find_ranks, hosts, rank_of

from fairlead.launch import Launcher, detect
from fairlead.network import Network
from fairlead.probe import probe

pytestmark = [pytest.mark.mpi, pytest.mark.timeout(200)]


@pytest.fixture(autouse=True)
def invented_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with agent_environment() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.fixture(params=MPIS)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return detect(MPIS[request.param].mpirun)


@pytest.mark.parametrize("num_hosts", [1, 2, 4])
def test_interfaces_are_measured_and_one_machine_is_no_bottleneck(
    launcher: Launcher, num_hosts: int
) -> None:
    network = probe(launcher, hosts(*NAMES[:num_hosts]), max_samples=6, contention=True)

    assert network.unmeasured_pairs() == []
    assert network.groups == ()
    assert network.nic_out_Bps is not None and network.nic_in_Bps is not None
    is_alone = num_hosts == 1
    assert np.all(np.isnan(network.nic_out_Bps) == is_alone)
    assert np.all(np.isnan(network.nic_in_Bps) == is_alone)
    assert network.origin["contention"]["is_complete"]


def test_budget_ends_the_search_and_says_so() -> None:
    network = probe(
        detect(MPIS["openmpi-4"].mpirun), hosts(*NAMES[:4]), budget_s=4, contention=True
    )

    assert network.unmeasured_pairs() == []
    assert not network.origin["contention"]["is_complete"]
    assert 0 < network.origin["contention"]["num_steps"] < 40


def test_steps_are_reported_as_progress() -> None:
    seen: list[tuple[int, int]] = []
    probe(
        detect(MPIS["openmpi-4"].mpirun),
        hosts(*NAMES[:2]),
        contention=True,
        on_progress=lambda *step: seen.append(step),
    )
    assert all(done <= total for done, total in seen)
    assert len({total for _, total in seen}) == 2  # of the pairs, and of the steps


def lost(folder: Path, how: signal.Signals) -> Network:
    """What is left when rank 3 of 4 is lost in the middle of the flows.

    Args:
        folder: Where files may be written.
        how: The signal that it gets.
    """
    tag = f"PROBE_TEST={os.getpid()}-{how.name}"
    name, value = tag.split("=")
    begun, result = folder / "begun", folder / "net.npz"
    program = f"""
from pathlib import Path
from fairlead.cluster import Cluster
from fairlead.launch import detect
from fairlead.probe import probe
totals = set()
def on_progress(done, total):
    totals.add(total)
    if len(totals) > 1 and done > 3:
        Path({str(begun)!r}).touch()
probe(
    detect({MPIS["openmpi-4"].mpirun!r}), Cluster.uniform({NAMES[:4]!r}, 1),
    patience_s=2, contention=True, on_progress=on_progress,
).save({str(result)!r})
"""
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, name: value})
    wait_until(begun.exists, 60)
    victim = next(pid for pid in find_ranks(tag) if rank_of(pid) == 3)
    os.kill(victim, how)
    assert process.wait(120) == 0
    wait_until(lambda: not processes_with(tag))
    return Network.load(result)


def test_frozen_process_costs_only_its_own_flows(tmp_path: Path) -> None:
    network = lost(tmp_path, signal.SIGSTOP)

    assert network.unmeasured_pairs() == []
    assert network.nic_out_Bps is not None
    assert np.isnan(network.nic_out_Bps).tolist() == [False, False, False, True]
    assert network.origin["contention"]["is_complete"]


def test_killed_process_does_not_lose_the_pairs(tmp_path: Path) -> None:
    network = lost(tmp_path, signal.SIGKILL)

    assert network.unmeasured_pairs() == []
    assert network.nic_out_Bps is None and network.groups == ()
    assert re.search(r"\w", network.origin["contention"]["error"])
