# SPDX-License-Identifier: Apache-2.0
"""Likely values of noisy pairs: together where noise explains their spread, else where they are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from instances import network, racks

import fairlead as fl
from fairlead.decide.denoised_network import remove_noise, shrunk


def with_noise(true: fl.Network, noise: float, seed: int = 0) -> fl.Network:
    bandwidth_Bps = true.bandwidth_Bps * np.random.default_rng(seed).lognormal(
        0, noise, true.bandwidth_Bps.shape
    )
    return dataclasses.replace(
        true,
        bandwidth_Bps=bandwidth_Bps,
        bandwidth_low_Bps=bandwidth_Bps * np.exp(-1.96 * noise),
        bandwidth_high_Bps=bandwidth_Bps * np.exp(1.96 * noise),
    )


def off_diagonal(matrix: np.ndarray) -> np.ndarray:
    return matrix[~np.eye(len(matrix), dtype=bool)]


def test_equal_pairs_come_together() -> None:
    found = remove_noise(with_noise(network(np.full((8, 8), 1e8)), 0.1))
    assert np.log(off_diagonal(found.bandwidth_Bps)).std() < 0.03
    assert np.all(np.isinf(np.diag(found.bandwidth_Bps)))


def test_pairs_of_two_racks_come_together_by_rack() -> None:
    true = racks([0, 1] * 4)
    found = remove_noise(with_noise(true, 0.1))
    ratio = off_diagonal(found.bandwidth_Bps) / off_diagonal(true.bandwidth_Bps)
    assert np.abs(np.log(ratio)).max() < 0.1


def test_one_slow_pair_stays_slow() -> None:
    true = network(np.full((8, 8), 1e8))
    true.bandwidth_Bps[2, 5] = 4e7
    found = remove_noise(with_noise(true, 0.05))
    assert found.bandwidth_Bps[2, 5] == pytest.approx(4e7, rel=0.15)
    assert np.delete(off_diagonal(found.bandwidth_Bps), 2 * 7 + 4).min() > 9e7


def test_normal_spread_shrinks_by_the_share_of_noise() -> None:
    # Two thirds of the variance are real: the values keep two thirds of their distance.
    rng = np.random.default_rng(5)
    real = rng.normal(0, np.sqrt(2), 5000)
    values = real + rng.normal(0, 1, real.size)
    found = shrunk(values, np.ones(real.size))
    slope = np.polyfit(values, found, 1)[0]
    assert slope == pytest.approx(2 / 3, abs=0.05)
    assert np.mean((found - real) ** 2) < 0.75 * np.mean((values - real) ** 2)


def test_exact_values_stay() -> None:
    values = np.array([1.0, 2.0, 2.1, 7.0, 7.1, 7.3])
    assert shrunk(values, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.1]))[:5] == pytest.approx(values[:5])


def test_network_without_intervals_or_noise_stays() -> None:
    plain = racks([0, 0, 1, 1])
    assert np.array_equal(remove_noise(plain).bandwidth_Bps, plain.bandwidth_Bps)
    exact = with_noise(plain, 0.0)
    assert np.array_equal(remove_noise(exact).bandwidth_Bps, plain.bandwidth_Bps)


def test_unmeasured_pair_stays_unmeasured() -> None:
    noisy = with_noise(racks([0, 0, 1, 1]), 0.1)
    noisy.bandwidth_Bps[0, 1] = np.nan
    found = remove_noise(noisy)
    assert np.argwhere(np.isnan(found.bandwidth_Bps)).tolist() == [[0, 1]]
