# SPDX-License-Identifier: Apache-2.0
"""Where `fairlead tune` measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fairlead as fl
from fairlead.act.launch.openmpi4 import OpenMpi4
from fairlead.flows.request import NetworkRequest
from fairlead.flows.tune.flow import TuneRequest, find_hosts
from fairlead.narrator import Narrator

LAUNCHER = OpenMpi4(Path("/mpirun"), (4, 1, 4))


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "two.net.npz"
    rates_Bps = np.where(np.eye(2), np.inf, 1e8)
    fl.Network(("a", "b"), np.where(np.eye(2), 0.0, 1e-5), rates_Bps).save(path)
    return str(path)


def test_ranks_are_where_the_launcher_puts_them(network: str) -> None:
    hosts = fl.Cluster(("a", "b"), (2, 2))

    cluster, found, placement = find_hosts(
        TuneRequest(3, hosts, network=NetworkRequest(network)), LAUNCHER, Narrator()
    )

    assert cluster == hosts
    assert found.hosts == ("a", "b")
    assert placement.host_names() == ["a", "a", "b"]


def test_ranks_are_where_the_given_placement_has_them(network: str, tmp_path: Path) -> None:
    given = tmp_path / "placement.json"
    fl.Placement(("b", "a"), np.array([0, 1, 0])).save(given)
    request = TuneRequest(
        3, fl.Cluster(("a", "b"), (2, 2)), network=NetworkRequest(network), placement=given
    )

    assert find_hosts(request, LAUNCHER, Narrator())[2].host_names() == ["b", "a", "b"]


def test_placement_of_other_ranks_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    given = tmp_path / "placement.json"
    fl.Placement(("b", "a"), np.array([0, 1])).save(given)
    request = TuneRequest(3, fl.Cluster(("a", "b"), (2, 2)), placement=given)

    with pytest.raises(fl.InputError, match="is for 2 ranks, but 3 are to run"):
        find_hosts(request, LAUNCHER, Narrator())


def test_ranks_on_one_host_are_refused(network: str) -> None:
    request = TuneRequest(2, fl.Cluster(("a", "b"), (2, 2)), network=NetworkRequest(network))

    with pytest.raises(fl.InputError, match="all 2 ranks are on one host"):
        find_hosts(request, LAUNCHER, Narrator())


def test_ranks_that_do_not_fit_are_refused(network: str) -> None:
    request = TuneRequest(5, fl.Cluster(("a", "b"), (2, 2)), network=NetworkRequest(network))

    with pytest.raises(fl.TopologyError, match="5 ranks do not fit"):
        find_hosts(request, LAUNCHER, Narrator())
