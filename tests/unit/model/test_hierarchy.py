# SPDX-License-Identifier: Apache-2.0
"""CMPI's hierarchy from Python; its rules are tested with the core."""

from __future__ import annotations

import dataclasses

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


def test_a_host_moves_to_the_smallest_group_until_the_span_is_kept() -> None:
    # Racks of four hosts and of two.
    rack = np.array([0, 0, 0, 0, 1, 1])
    latency_s = np.where(rack[:, None] == rack, 1e-3, 9e-3)
    np.fill_diagonal(latency_s, 0.0)
    network = fl.Network([f"n{host}" for host in range(6)], latency_s, np.full((6, 6), 1e9))

    assert fl.build_hierarchy(network, 0, max_span=2).groups(1) == [[0, 1, 2, 3], [4, 5]]
    assert fl.build_hierarchy(network, 0, max_span=1).groups(1) == [[0, 4, 5], [1, 2, 3]]
    # Host 2 is now the nearest to 4 and 5, so it moves instead of 0.
    latency_s[2, 4:] = latency_s[4:, 2] = 5e-3
    assert fl.build_hierarchy(network, 0, max_span=1).groups(1) == [[0, 1, 3], [2, 4, 5]]


def test_size_of_the_message_decides_what_is_near() -> None:
    # 1 ms against 3 ms is one level; with 100 MB it is 1 s against 2 s, and k = 2 keeps them apart.
    network = two_racks(across_s=1e-3)

    assert fl.build_hierarchy(network, 0, k=2).num_levels == 1
    assert fl.build_hierarchy(network, 10**9, k=1.5).num_levels == 2


def test_share_of_pairs_that_differ_by_direction_in_each_metric() -> None:
    network = two_racks()
    network.latency_s[0, 2] = 9e-3
    # 100 MB/s, the base, against 50 and 25: levels 0, 0 and 1 by k = 4, since 1 = 100 / (4 x 25).
    network.bandwidth_Bps[0, 1] = network.bandwidth_Bps[2, 1] = 2.5e7

    hierarchy = fl.build_hierarchy(network, 0)

    assert hierarchy.latency_asymmetry_ratio == pytest.approx(1 / 6)
    assert hierarchy.bandwidth_asymmetry_ratio == pytest.approx(2 / 6)


def test_shared_groups_do_not_count() -> None:
    network = two_racks()
    pairs = np.argwhere(~np.eye(4, dtype=bool))
    shared = dataclasses.replace(
        network, groups=[fl.BottleneckGroup(pairs=pairs, capacity_Bps=1e6)]
    )

    assert fl.build_hierarchy(shared, 10**6).transfer_s == pytest.approx(network.transfer_s(10**6))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"k": 0}, "k: must be finite and > 0, got 0"),
        ({"max_span": -1}, "max_span: must be >= 0, got -1"),
        ({"message_bytes": -1}, ">= 0"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, float], problem: str) -> None:
    with pytest.raises(fl.InputError, match=problem):
        fl.build_hierarchy(two_racks(), **{"message_bytes": 0, **arguments})  # type: ignore[arg-type]
