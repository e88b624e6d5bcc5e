# SPDX-License-Identifier: Apache-2.0
"""Flows run together under three real MPIs, on invented hosts that all are this machine."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import numpy as np
import pytest
from busy_machine import measured_until
from probing import NAMES, hosts, probe_that_loses_rank_3

from fairlead.act.launch import Launcher
from fairlead.measure.probe import probe
from fairlead.model.flows_summary import FlowsSummary
from fairlead.model.network import Network

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.usefixtures("invented_hosts"),
]


def interfaces(network: Network) -> list[float]:
    """Rates of the interfaces of all hosts, out and in."""
    assert network.nic_out_Bps is not None and network.nic_in_Bps is not None
    return [*network.nic_out_Bps, *network.nic_in_Bps]


@pytest.mark.parametrize("num_hosts", [1, 2, 4])
def test_interfaces_are_measured_and_one_machine_is_no_bottleneck(
    launcher: Launcher, num_hosts: int
) -> None:
    is_alone = num_hosts == 1
    # Where a process does not run in the time of a step, its interface stays unknown.
    network = measured_until(
        lambda found: is_alone or not any(map(np.isnan, interfaces(found))),
        lambda: probe(launcher, hosts(*NAMES[:num_hosts]), max_samples=6, contention=True),
    )

    assert network.unmeasured_pairs() == []
    assert network.groups == ()
    assert np.all(np.isnan(interfaces(network)) == is_alone)
    assert network.flows == FlowsSummary(is_complete=True)


def test_budget_ends_the_search_and_says_so(one_launcher: Launcher) -> None:
    network = probe(one_launcher, hosts(*NAMES[:4]), budget_s=4, contention=True)

    assert network.unmeasured_pairs() == []
    assert network.flows == FlowsSummary(is_complete=False)
    assert 0 < network.origin["contention"]["num_steps"] < 40


def test_steps_are_reported_as_progress(one_launcher: Launcher) -> None:
    seen: list[tuple[int, int]] = []
    probe(
        one_launcher,
        hosts(*NAMES[:2]),
        contention=True,
        on_progress=lambda *step: seen.append(step),
    )
    assert all(done <= total for done, total in seen)
    assert len({total for _, total in seen}) == 2  # of the pairs, and of the steps


def lost(folder: Path, how: signal.Signals) -> Network:
    """What is left when rank 3 of 4 is lost in the middle of the flows."""
    return probe_that_loses_rank_3(
        folder, how, num_hosts=4, is_begun="len(totals) > 1 and done > 3", options="contention=True"
    )


def test_frozen_process_costs_only_its_own_flows(tmp_path: Path) -> None:
    network = lost(tmp_path, signal.SIGSTOP)

    assert network.unmeasured_pairs() == []
    assert network.nic_out_Bps is not None
    assert not np.isnan(network.nic_out_Bps[:3]).any()  # the last may have been measured before
    assert network.flows == FlowsSummary(is_complete=True)


def test_killed_process_does_not_lose_the_pairs(tmp_path: Path) -> None:
    network = lost(tmp_path, signal.SIGKILL)

    assert network.unmeasured_pairs() == []
    assert network.nic_out_Bps is None and network.groups == ()
    assert network.flows is not None
    assert re.search(r"\w", network.flows.error or "")
