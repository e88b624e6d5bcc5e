# SPDX-License-Identifier: Apache-2.0
"""CMPI's hierarchy from Python; its rules are tested with the core."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl


def two_racks(across_s: float = 9e-3) -> fl.Network:
    """Hosts 0 and 2 in one rack, 1 and 3 in the other."""
    is_near = (np.arange(4)[:, None] - np.arange(4)) % 2 == 0
    latency_s = np.where(is_near, 1e-3, across_s)
    np.fill_diagonal(latency_s, 0.0)
    bandwidth_Bps = np.where(np.eye(4, dtype=bool), np.inf, np.where(is_near, 1e8, 5e7))
    return fl.Network([f"n{host}" for host in range(4)], latency_s, bandwidth_Bps)


def test_distance_is_the_level_of_the_lowest_common_group() -> None:
    hierarchy = fl.build_hierarchy(two_racks(), 0)

    assert [hierarchy.distance(0, host) for host in range(4)] == [0, 2, 1, 2]


def test_groups_of_each_level() -> None:
    hierarchy = fl.build_hierarchy(two_racks(), 0)

    assert hierarchy.num_levels == 2
    assert hierarchy.groups(1) == [[0, 2], [1, 3]]
    assert hierarchy.groups(2) == [[0, 1, 2, 3]]
    with pytest.raises(fl.InputError, match="there is no level 3"):
        hierarchy.groups(3)


def test_transfer_time_is_latency_and_bytes_over_bandwidth() -> None:
    network = two_racks()

    hierarchy = fl.build_hierarchy(network, 10**6)

    assert hierarchy.transfer_s == pytest.approx(network.transfer_s(10**6))


def test_a_larger_factor_makes_fewer_levels() -> None:
    assert fl.build_hierarchy(two_racks(), 0, k=4).num_levels == 2
    assert fl.build_hierarchy(two_racks(), 0, k=16).num_levels == 1


def test_a_larger_span_joins_groups_that_are_farther_apart() -> None:
    # Pairs of 1 ms; two of them are 5 ms apart, and two such groups 20 ms.
    host = np.arange(8)
    is_same_pair, is_same_half = (host[:, None] // size == host // size for size in (2, 4))
    latency_s = np.select(
        [np.eye(8, dtype=bool), is_same_pair, is_same_half], [0, 1e-3, 5e-3], 0.02
    )
    network = fl.Network([f"n{n}" for n in host], latency_s, np.full((8, 8), 1e9))

    assert fl.build_hierarchy(network, 0, max_span=0).num_levels == 2
    assert fl.build_hierarchy(network, 0, max_span=1).num_levels == 3


def test_size_of_the_message_decides_what_is_near() -> None:
    # 1 ms against 3 ms is one level; with 100 MB it is 1 s against 2 s, and k = 2 keeps them apart.
    network = two_racks(across_s=1e-3)

    assert fl.build_hierarchy(network, 0, k=2).num_levels == 1
    assert fl.build_hierarchy(network, 10**9, k=1.5).num_levels == 2


def test_share_of_pairs_that_differ_by_direction() -> None:
    network = two_racks()
    network.latency_s[0, 2] = 9e-3

    assert fl.build_hierarchy(network, 0).asymmetry_ratio == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [({"k": 1}, "k: must be > 1"), ({"max_span": -1}, "max_span"), ({"message_bytes": -1}, ">= 0")],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, float], problem: str) -> None:
    with pytest.raises(fl.InputError, match=problem):
        fl.build_hierarchy(two_racks(), **{"message_bytes": 0, **arguments})  # type: ignore[arg-type]
