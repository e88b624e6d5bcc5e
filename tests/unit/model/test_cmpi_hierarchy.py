# SPDX-License-Identifier: Apache-2.0
"""CMPI's hierarchy against a plain reading of the paper, on drawn networks."""

from __future__ import annotations

import math

import cmpi_reading as paper
import numpy as np
import pytest

import fairlead as fl


def drawn(num_hosts: int, sigma: float, seed: int) -> fl.Network:
    """Lognormal pairs; a third of the seeds with racks of near hosts."""
    random, shape = np.random.default_rng(seed), (num_hosts, num_hosts)
    rack = random.integers(0, 4, num_hosts)
    is_far = (rack[:, None] != rack) if seed % 3 == 0 else np.zeros(shape, dtype=bool)
    is_self = np.eye(num_hosts, dtype=bool)
    latency_s = random.lognormal(np.log(1e-4), sigma, shape) * np.where(is_far, 8.0, 1.0)
    bandwidth_Bps = random.lognormal(np.log(1e8), sigma, shape) / np.where(is_far, 4.0, 1.0)
    return fl.Network(
        [f"n{host}" for host in range(num_hosts)],
        np.where(is_self, 0.0, latency_s),
        np.where(is_self, np.inf, bandwidth_Bps),
    )


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("k", "max_span"), [(4, 1), (1, 0), (1.7, 3), (9, 2), (0.5, 100)])
def test_levels_are_those_of_algorithms_1_and_2(seed: int, k: float, max_span: int) -> None:
    num_hosts, message_bytes = 2 + 3 * seed, [0, 10**4, 10**6][seed % 3]
    network = drawn(num_hosts, sigma=0.8, seed=seed)

    hierarchy = fl.build_hierarchy(network, message_bytes, k=k, max_span=max_span)

    times_s = network.latency_s + message_bytes / network.bandwidth_Bps
    matrix = paper.discretise(times_s.tolist(), k)
    assert hierarchy.level_of_pair.tolist() == matrix
    sets = paper.build(matrix, max_span)
    assert [hierarchy.groups(level + 1) for level in range(hierarchy.num_levels)] == sets


@pytest.mark.parametrize("seed", range(6))
def test_distance_is_the_level_of_the_lowest_group_of_both(seed: int) -> None:
    hierarchy = fl.build_hierarchy(drawn(17, sigma=0.8, seed=seed), 10**5)

    sets = [hierarchy.groups(level + 1) for level in range(hierarchy.num_levels)]
    for i in range(17):
        for j in range(17):
            assert hierarchy.distance(i, j) == paper.distance(sets, i, j)


@pytest.mark.parametrize("k", [0.7, 4])
def test_asymmetry_is_that_of_each_metric_by_its_own_levels(k: float) -> None:
    network = drawn(20, sigma=0.6, seed=5)

    hierarchy = fl.build_hierarchy(network, 10**6, k=k)

    byte_s = 1 / network.bandwidth_Bps
    for values, found in (
        (network.latency_s, hierarchy.latency_asymmetry_ratio),
        (byte_s, hierarchy.bandwidth_asymmetry_ratio),
    ):
        levels = paper.discretise(values.tolist(), k)
        differing = [levels[i][j] != levels[j][i] for i in range(20) for j in range(i)]
        assert found == pytest.approx(sum(differing) / math.comb(20, 2))
        assert 0 < found < 1


@pytest.mark.parametrize("seed", range(8))
def test_each_level_has_at_most_half_the_groups_within_the_span(seed: int) -> None:
    hierarchy = fl.build_hierarchy(drawn(61, sigma=1.0, seed=seed), 10**5)

    num_below = 61
    for level in range(1, hierarchy.num_levels + 1):
        groups = hierarchy.groups(level)
        assert 2 * len(groups) <= num_below
        assert paper.span(groups) <= 1
        num_below = len(groups)
    assert num_below == 1
    assert hierarchy.num_levels <= math.log2(61)
