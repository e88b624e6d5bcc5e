# SPDX-License-Identifier: Apache-2.0
"""Whether a cached network still holds, decided by a few pairs."""

from __future__ import annotations

import numpy as np
import pytest

import fairlead as fl
from fairlead.watch.drift import choose_hosts, find_drifted_pairs, pairs_to_measure_again


def network(bandwidth_Bps: np.ndarray, noise_ratio: float = 0.02) -> fl.Network:
    num_hosts = len(bandwidth_Bps)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    latency_s = np.full((num_hosts, num_hosts), 1e-5)
    return fl.Network(
        [f"h{host}" for host in range(num_hosts)],
        latency_s,
        bandwidth_Bps,
        latency_low_s=latency_s,
        latency_high_s=latency_s,
        bandwidth_low_Bps=bandwidth_Bps * (1 - noise_ratio),
        bandwidth_high_Bps=bandwidth_Bps * (1 + noise_ratio),
        samples=np.full((num_hosts, num_hosts), 12),
    )


def racks(slow_Bps: float = 25e6) -> np.ndarray:
    rack = np.arange(8) // 4
    return np.where(rack[:, None] == rack, 125e6, slow_Bps)


def test_a_change_of_more_than_a_fifth_is_drift_and_a_smaller_one_is_not() -> None:
    kept = racks()
    now = kept.copy()
    now[0, 1] /= 1.3
    now[2, 3] /= 1.1
    drifted = find_drifted_pairs(network(kept), network(now))
    assert np.argwhere(drifted).tolist() == [[0, 1], [1, 0]]


def test_a_change_within_the_noise_of_both_is_no_drift() -> None:
    kept = racks()
    now = kept.copy()
    now[0, 1] /= 1.3
    assert not find_drifted_pairs(network(kept, 0.6), network(now, 0.6)).any()


def test_a_pair_that_was_not_measured_has_not_drifted() -> None:
    now = racks()
    now[0, 1] = np.nan
    assert not find_drifted_pairs(network(racks()), network(now)).any()


@pytest.mark.parametrize("seed", range(8))
def test_the_hosts_checked_hold_a_near_and_a_far_pair(seed: int) -> None:
    bandwidth_Bps = racks()
    host, near, far = choose_hosts(network(bandwidth_Bps), seed)
    assert len({host, near, far}) == 3
    assert bandwidth_Bps[host, far] == 25e6
    assert bandwidth_Bps[host, near] >= bandwidth_Bps[host, far]


def test_in_time_every_host_is_checked() -> None:
    kept = network(racks())
    assert {host for seed in range(100) for host in choose_hosts(kept, seed)} == set(range(8))


def test_only_measured_pairs_are_checked() -> None:
    bandwidth_Bps = np.full((8, 8), np.nan)
    bandwidth_Bps[0, 5] = bandwidth_Bps[5, 0] = 1e8
    known = network(bandwidth_Bps)
    assert sorted(choose_hosts(known, seed=0)) == [0, 5]


def test_nothing_measured_is_nothing_to_check() -> None:
    assert choose_hosts(network(np.full((8, 8), np.nan)), seed=0) == []


def test_all_pairs_of_a_drifted_host_are_measured_again_and_no_others() -> None:
    drifted = np.zeros((4, 4), dtype=bool)
    drifted[0, 1] = drifted[1, 0] = True
    again = pairs_to_measure_again(drifted)
    assert not again[2, 3]
    assert again.sum() == 10
    assert not again.diagonal().any()
