# SPDX-License-Identifier: Apache-2.0
"""Racks are found where the measurement shows them, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from report_samples import two_racks

import fairlead as fl
from fairlead.measure.racks import racks
from fairlead.report.host_order import HostOrder


def noisy(num_hosts, rack_of, seed, spread=0.2, ratio=4.0):
    """Pairs of one rack are `ratio` times better, and all values have lognormal noise."""
    rng = np.random.default_rng(seed)
    noise = np.exp(rng.normal(0, spread, (2, num_hosts, num_hosts)))
    rack = np.asarray(rack_of)
    far = np.where(rack[:, None] == rack[None], 1.0, ratio)
    names = [f"h{host}" for host in range(num_hosts)]
    return fl.Network(names, 50e-6 * far * noise[0], 1e8 / far * noise[1])


@pytest.mark.parametrize("num_hosts", [4, 8, 33, 130])
def test_two_racks_are_found_in_any_order(num_hosts):
    network = two_racks([f"node{host}" for host in range(num_hosts)])

    assert racks(network) == [list(range(0, num_hosts, 2)), list(range(1, num_hosts, 2))]


@pytest.mark.parametrize("seed", range(5))
def test_four_racks_are_found_in_noise(seed):
    rack_of = np.random.default_rng(seed).permutation(np.arange(32) % 4)

    found = racks(noisy(32, rack_of, seed))

    assert sorted(map(tuple, found)) == sorted(
        tuple(np.flatnonzero(rack_of == rack)) for rack in range(4)
    )


@pytest.mark.parametrize("num_hosts", [2, 3, 8, 16, 64])
def test_noise_alone_makes_no_racks(num_hosts):
    rack_of = [0] * num_hosts

    assert not any(racks(noisy(num_hosts, rack_of, seed, spread=0.4)) for seed in range(5))


def test_difference_of_a_tenth_is_no_rack():
    assert racks(noisy(16, np.arange(16) % 2, 0, spread=0.001, ratio=1.1)) == []


def test_host_far_from_all_is_alone_and_not_framed():
    network = noisy(8, [0] * 7 + [1], 0, spread=0.05)

    assert racks(network) == [list(range(7)), [7]]
    assert HostOrder.of(network).rack_runs() == [(0, 6)]


def test_one_wild_pair_hides_no_racks():
    network = two_racks([f"node{host}" for host in range(8)])
    latency_s = network.latency_s.copy()
    latency_s[0, 2] = 0.3

    wild = fl.Network(network.hosts, latency_s, network.bandwidth_Bps)

    assert racks(wild) == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_unmeasured_pairs_hide_no_racks():
    network = two_racks([f"node{host}" for host in range(8)])
    latency_s, bandwidth_bps = network.latency_s.copy(), network.bandwidth_Bps.copy()
    latency_s[0, 2:4] = bandwidth_bps[5, 1] = np.nan

    found = racks(fl.Network(network.hosts, latency_s, bandwidth_bps))

    assert found == [[0, 2, 4, 6], [1, 3, 5, 7]]
    nothing = np.full((8, 8), np.nan)
    assert racks(fl.Network(network.hosts, nothing, nothing)) == []
