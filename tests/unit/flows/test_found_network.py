# SPDX-License-Identifier: Apache-2.0
"""FoundNetwork: a probe that a short budget has ended is completed, or the run ends with why."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from instances import groups_traffic, racks
from narrators import RecordingNarrator

import fairlead as fl
from fairlead.flows.inputs.found_network import FoundNetwork

NETWORK = racks([0, 0, 0, 0, 1, 1, 1, 1])
NUM_HOSTS = NETWORK.num_hosts


def measured_in_part(num_pairs: int) -> fl.Network:
    """So many pairs both ways, in the order of a tournament, and no more."""
    is_measured = np.eye(NUM_HOSTS, dtype=bool)
    pairs = [(i, (i + step) % NUM_HOSTS) for step in range(1, NUM_HOSTS) for i in range(NUM_HOSTS)]
    for low, high in [pair for pair in pairs if pair[0] < pair[1]][:num_pairs]:
        is_measured[low, high] = is_measured[high, low] = True
    known = {
        name: np.where(is_measured, getattr(NETWORK, name), np.nan)
        for name in ("latency_s", "bandwidth_Bps")
    }
    return dataclasses.replace(NETWORK, **known)


def settled(
    network: fl.Network, narrator: RecordingNarrator, *, has_budget: bool = True
) -> fl.Network:
    source: Any = SimpleNamespace(
        name="probe",
        is_given=False,
        has_true_rates=True,
        look_up=lambda _: None,
        measure=lambda *_: network,
    )
    found = FoundNetwork(
        source, fl.Cluster.uniform(NETWORK.hosts, 1), False, narrator, has_budget=has_budget
    )
    found.look(dict)
    launchers = fl.Placement(NETWORK.hosts, np.arange(8), "launcher")
    return found.settle(groups_traffic([0, 1] * 4), launchers, measures_again=True)[1]


def test_pairs_that_the_budget_left_out_are_estimated() -> None:
    narrator = RecordingNarrator()

    network = settled(measured_in_part(20), narrator)

    assert narrator.lines == [
        "network: 40 of 56 pairs of hosts were measured in time, the others are estimated"
    ]
    assert network.unmeasured_pairs() == []
    assert np.all(network.bandwidth_Bps > 0)


def test_too_few_pairs_are_the_budget_s_fault() -> None:
    with pytest.raises(fl.TopologyError, match="nor 45 more pairs: give the probe more time"):
        settled(measured_in_part(5), RecordingNarrator())


def test_without_a_budget_a_pair_that_was_not_measured_is_an_error() -> None:
    with pytest.raises(fl.TopologyError, match="nor 15 more pairs"):
        settled(measured_in_part(20), RecordingNarrator(), has_budget=False)


def test_a_whole_network_stays_as_it_is() -> None:
    narrator = RecordingNarrator()

    assert settled(NETWORK, narrator) is NETWORK
    assert narrator.lines == []


@pytest.mark.parametrize("kept", [None, NETWORK])
def test_a_kept_network_is_checked_and_not_probed(kept: fl.Network | None) -> None:
    source: Any = SimpleNamespace(
        name="probe", is_given=False, look_up=lambda _: kept, measure=lambda *_: NETWORK
    )
    found = FoundNetwork(source, fl.Cluster.uniform(NETWORK.hosts, 1), False, RecordingNarrator())
    found.look(dict)
    assert found.measure() is NETWORK
    assert found.seconds > 0
    assert found.has_probed == (kept is None)
