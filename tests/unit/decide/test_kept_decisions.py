# SPDX-License-Identifier: Apache-2.0
"""What is kept of a decision, and when it serves again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.decide.decision import Decision
from fairlead.decide.expected_gain import Gain
from fairlead.decide.kept_decisions import decision_path, keep, recalled

CLUSTER = fl.Cluster.uniform(["a", "b"], slots=1)
PLACEMENT = fl.Placement(CLUSTER.hosts, np.array([1, 0]), "scotch")


def network(rate_Bps: float) -> fl.Network:
    return fl.Network(CLUSTER.hosts, np.zeros((2, 2)), np.full((2, 2), rate_Bps))


@pytest.mark.parametrize("placement", [PLACEMENT, None])
def test_a_decision_is_recalled_as_it_was_kept(
    placement: fl.Placement | None, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "decision.json"
    keep(Decision(placement, Gain(0.3, 0.1, 0.4, 0.01), 2.0, 12, seconds=4.0), "scotch", path)

    found = recalled(path, CLUSTER)

    assert found is not None
    assert (found.gain, found.network_s, found.num_rounds) == (Gain(0.3, 0.1, 0.4, 0.01), 2.0, 12)
    assert (found.is_kept, found.seconds) == (True, 0.0)
    if placement is None:
        assert found.placement is None
    else:
        assert found.placement is not None
        assert found.placement.host_names() == placement.host_names()


def test_a_decision_for_other_hosts_or_a_damaged_one_does_not_serve(tmp_path: Path) -> None:
    path = tmp_path / "decision.json"
    keep(Decision(PLACEMENT, Gain(0.3, 0.1, 0.4), 2.0), "scotch", path)

    assert recalled(path, fl.Cluster.uniform(["a", "c"], slots=1)) is None
    path.write_text(path.read_text()[:-9])
    assert recalled(path, CLUSTER) is None
    assert recalled(tmp_path / "none.json", CLUSTER) is None


def test_all_that_a_decision_depends_on_is_in_its_name() -> None:
    traffic = fl.Traffic(bytes=np.eye(2), messages=np.eye(2))
    paths = {
        decision_path(CLUSTER, network(1e8), traffic, ("scotch", 0)),
        decision_path(CLUSTER, network(1e8), traffic, ("scotch", 0)),
        decision_path(fl.Cluster.uniform(["a", "b"], 2), network(1e8), traffic, ("scotch", 0)),
        decision_path(CLUSTER, network(2e8), traffic, ("scotch", 0)),
        decision_path(CLUSTER, network(1e8), fl.Traffic(traffic.bytes * 2, traffic.bytes), ()),
        decision_path(CLUSTER, network(1e8), traffic, ("scotch", 1)),
    }
    assert len(paths) == 5
