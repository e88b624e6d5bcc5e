# SPDX-License-Identifier: Apache-2.0
"""Groups of pairs behind one bottleneck: what they refuse, and what is left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_samples import save_network

import fairlead as fl

HOSTS = ["a", "b", "c", "d"]
LATENCY_S = np.full((4, 4), 1e-5)
BANDWIDTH_BPS = np.full((4, 4), 1e8)
UPLINK = fl.BottleneckGroup(pairs=np.array([[0, 2], [0, 3], [1, 2], [1, 3]]), capacity_Bps=2.5e7)


def network(**more: Any) -> fl.Network:
    return fl.Network(HOSTS, LATENCY_S, BANDWIDTH_BPS, **more)


def test_hosts_on_both_sides_are_named() -> None:
    assert (UPLINK.src_hosts, UPLINK.dst_hosts) == ([0, 1], [2, 3])


def test_selected_hosts_keep_their_part_of_a_group() -> None:
    chosen = network(groups=[UPLINK], nic_in_Bps=np.arange(1.0, 5.0)).select(["d", "a", "b"])
    assert sorted(chosen.groups[0].pairs.tolist()) == [[1, 0], [2, 0]]
    assert chosen.groups[0].capacity_Bps == 2.5e7
    assert chosen.nic_in_Bps is not None and chosen.nic_in_Bps.tolist() == [4, 1, 2]


def test_group_of_hosts_that_left_is_gone() -> None:
    assert network(groups=[UPLINK]).select(["a", "b"]).groups == ()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pairs": [[0, 0]]}, "two different hosts"),
        ({"pairs": [[0, 1], [0, 1]]}, "named twice"),
        ({"pairs": np.zeros((0, 2))}, "expected shape"),
        ({"capacity_Bps": 0.0}, "capacity_Bps"),
        ({"capacity_Bps": float("nan")}, "capacity_Bps"),
        ({"confidence_ratio": 1.5}, "confidence_ratio"),
    ],
)
def test_impossible_group_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(fl.Error, match=message):
        fl.BottleneckGroup(**{"pairs": [[0, 1]], "capacity_Bps": 1.0, **wrong})


def test_network_refuses_capacities_that_do_not_fit() -> None:
    with pytest.raises(fl.ShapeError, match="nic_out_Bps"):
        network(nic_out_Bps=np.ones(3))
    with pytest.raises(fl.InputError, match="nic_in_Bps"):
        network(nic_in_Bps=np.array([1.0, 0.0, 1.0, 1.0]))
    with pytest.raises(fl.ShapeError, match="host 4"):
        network(groups=[fl.BottleneckGroup(pairs=np.array([[0, 4]]), capacity_Bps=1.0)])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("group_pairs", np.array([[0, 0, 9]]), "outside 0..1"),
        ("group_pairs", np.array([[1, 0, 1]]), "each of the 1 groups"),
        ("group_pairs", np.array([[0.0, 0.5, 1.0]]), "whole numbers"),
        ("group_capacity_Bps", np.array([[-1.0, 1.0, 1.0]]), "capacity_Bps"),
        ("group_confidence_ratio", np.ones(2), "expected shape"),
        ("nic_out_Bps", np.ones(3), "expected shape"),
    ],
)
def test_file_with_an_impossible_group_is_refused(
    tmp_path: Path, name: str, value: Any, message: str
) -> None:
    file = tmp_path / "a.net.npz"
    arrays = {
        "group_pairs": np.array([[0, 0, 1]]),
        "group_capacity_Bps": np.ones((1, 3)),
        "group_confidence_ratio": np.ones(1),
        name: value,
    }
    save_network(file, arrays)
    with pytest.raises(fl.InputError, match=rf"a\.net\.npz.*{message}"):
        fl.Network.load(file)
