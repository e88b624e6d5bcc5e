# SPDX-License-Identifier: Apache-2.0
"""What is kept of a decision, and when it serves again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.decide.kept_decisions import decision_path, keep, load_kept

CLUSTER = fl.Cluster.uniform(["a", "b"], slots=1)
PLACEMENT = fl.Placement(CLUSTER.hosts, np.array([1, 0]), "scotch")


def network(rate_Bps: float) -> fl.Network:
    return fl.Network(CLUSTER.hosts, np.zeros((2, 2)), np.full((2, 2), rate_Bps))


@pytest.mark.parametrize(
    ("placement", "has_dropped"), [(PLACEMENT, False), (None, False), (None, True)]
)
def test_a_decision_is_recalled_as_it_was_kept(
    placement: fl.Placement | None, has_dropped: bool, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "decision.json"
    gain = Gain(0.3, 0.1, 0.4, 0.01)
    keep(Decision(placement, gain, 2.0, 12, has_dropped=has_dropped, seconds=4.0), "scotch", path)

    found = load_kept(path, CLUSTER)

    assert found is not None
    assert (found.gain, found.network_s, found.num_rounds) == (gain, 2.0, 12)
    assert (found.is_kept, found.has_dropped, found.seconds) == (True, has_dropped, 0.0)
    if placement is None:
        assert found.placement is None
    else:
        assert found.placement is not None
        assert found.placement.host_names() == placement.host_names()


def test_a_decision_for_other_hosts_or_a_damaged_one_does_not_serve(tmp_path: Path) -> None:
    path = tmp_path / "decision.json"
    keep(Decision(PLACEMENT, Gain(0.3, 0.1, 0.4), 2.0), "scotch", path)

    assert load_kept(path, fl.Cluster.uniform(["a", "c"], slots=1)) is None
    path.write_text(path.read_text()[:-9])
    assert load_kept(path, CLUSTER) is None
    assert load_kept(tmp_path / "none.json", CLUSTER) is None


SENT = np.array([[0, 3.0], [0, 0]])
TRAFFIC = fl.Traffic(bytes=SENT, messages=SENT)
GROUP = fl.BottleneckGroup(np.array([[0, 1], [1, 0]]), capacity_Bps=1e8)
INPUTS = {"cluster": CLUSTER, "network": network(1e8), "traffic": TRAFFIC, "options": ("scotch", 0)}


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": fl.Cluster.uniform(["a", "b"], 2)},
        {"cluster": fl.Cluster.uniform(["a", "c"], 1)},
        {"network": network(2e8)},
        {"network": replace(network(1e8), latency_s=np.ones((2, 2)))},
        {"network": replace(network(1e8), bandwidth_low_Bps=np.ones((2, 2)))},
        {"network": replace(network(1e8), nic_out_Bps=[1e8, 1e8])},
        {"network": replace(network(1e8), nic_in_Bps=[1e8, 1e8])},
        {"network": replace(network(1e8), coordinates=[[0], [1]])},
        {"network": replace(network(1e8), groups=[GROUP])},
        {"traffic": fl.Traffic(bytes=SENT * 2, messages=SENT)},
        {"traffic": fl.Traffic(bytes=SENT, messages=SENT * 2)},
        {"traffic": fl.Traffic(bytes=SENT[::-1], messages=SENT)},  # another sender
        {"traffic": replace(TRAFFIC, compute_s=np.ones(2), compute_hosts=("a", "b"))},
        {"options": ("scotch", 1)},
    ],
)
def test_a_kept_decision_does_not_serve_for_another_input(change: dict[str, Any]) -> None:
    assert decision_path(**INPUTS) == decision_path(**INPUTS | {"network": network(1e8)})
    assert decision_path(**INPUTS) != decision_path(**INPUTS | change)


def test_a_kept_decision_serves_for_the_same_inputs_from_their_files(tmp_path: Path) -> None:
    measured = replace(network(1e8), groups=[GROUP], samples=np.ones((2, 2)))
    measured.save(tmp_path / "a.net.npz")
    TRAFFIC.save(tmp_path / "a.traffic.npz")
    from_files = {
        "network": fl.Network.load(tmp_path / "a.net.npz"),
        "traffic": fl.Traffic.load(tmp_path / "a.traffic.npz"),
    }

    now, later = INPUTS | {"network": measured}, INPUTS | from_files

    assert decision_path(**now) == decision_path(**later)
