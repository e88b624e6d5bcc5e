# SPDX-License-Identifier: Apache-2.0
"""Whether a gain that was chosen on a noisy measurement is called real where it is, and only there.

The network is known here, its measurement is drawn from it with exact intervals, and the placement
is chosen on the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from instances import network

import fairlead as fl
from fairlead.decide.expected_gain import Gain, expected_gain
from fairlead.decide.noise import NORMAL_95

HOSTS, SLOTS = 8, 4
CLUSTER = fl.Cluster.uniform([f"h{host}" for host in range(HOSTS)], SLOTS)
NOISES = (0.02, 0.05, 0.1)
FAST_BPS, SLOW_BPS = 125e6, 25e6


def measured(true_Bps: npt.NDArray[np.float64], noise: float, seed: int) -> fl.Network:
    """Lognormal noise on each directed pair, and the interval that belongs to it."""
    factor = np.random.default_rng(seed).lognormal(0, noise, true_Bps.shape)
    found = network(true_Bps * factor)
    width = np.exp(NORMAL_95 * noise)
    return fl.Network(
        found.hosts,
        found.latency_s,
        found.bandwidth_Bps,
        bandwidth_low_Bps=found.bandwidth_Bps / width,
        bandwidth_high_Bps=found.bandwidth_Bps * width,
    )


def two_racks(rack_of_host: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return np.where(rack_of_host[:, None] == rack_of_host, FAST_BPS, SLOW_BPS)


def traffic_of(sent: npt.NDArray[np.float64]) -> fl.Traffic:
    return fl.Traffic(bytes=sent, messages=np.sign(sent))


def cg_like() -> fl.Traffic:
    """Rows of ranks, one per host as the launcher fills hosts, and a lighter transpose."""
    rank = np.arange(HOSTS * SLOTS)
    row, column = np.divmod(rank, SLOTS)
    sent = np.zeros((rank.size, rank.size))
    for step in (1, 2):
        sent[rank, row * SLOTS + (column ^ step)] = 2e7
    sent[rank, column * HOSTS + row] += 1e7
    np.fill_diagonal(sent, 0)
    return traffic_of(sent)


def ring() -> fl.Traffic:
    """All ranks of a host with one another, and less to both neighbours of the host."""
    sent = np.kron(np.eye(HOSTS), np.ones((SLOTS, SLOTS)) - np.eye(SLOTS)) * 1e8
    for host in range(HOSTS):
        sent[host * SLOTS, (host - 1) % HOSTS * SLOTS] = 1e7
        sent[host * SLOTS, (host + 1) % HOSTS * SLOTS] = 1e7
    return traffic_of(sent)


def judged(
    true_Bps: npt.NDArray[np.float64], traffic: fl.Traffic, noise: float, method: str, seed: int
) -> tuple[Gain, float]:
    """What is expected of the placement that a method finds, and what it truly gains."""
    found = measured(true_Bps, noise, seed)
    chosen = fl.place(traffic, found, CLUSTER, method, objective="sum", seed=seed)
    baseline = fl.place(traffic, found, CLUSTER, "launcher")
    after, before = (
        fl.evaluate(one, traffic, network(true_Bps)).comm_time_s for one in (chosen, baseline)
    )
    return expected_gain(chosen, baseline, traffic, found, seed), 1 - after / before


def cases(num_optimized: int) -> Iterator[tuple[float, str, int]]:
    for noise in NOISES:
        yield from ((noise, "scotch", seed) for seed in range(12))
        yield from ((noise, "optimize", seed) for seed in range(num_optimized))


@pytest.mark.parametrize(
    ("true_Bps", "traffic"),
    [
        (np.full((HOSTS, HOSTS), FAST_BPS), cg_like()),
        (np.full((HOSTS, HOSTS), FAST_BPS), ring()),
        (two_racks(np.arange(HOSTS) // 4), ring()),
    ],
    ids=["flat, cg-like", "flat, ring", "racks as the launcher wants them, ring"],
)
def test_gain_that_noise_alone_promises_is_rarely_believed(
    true_Bps: npt.NDArray[np.float64], traffic: fl.Traffic
) -> None:
    outcomes = [judged(true_Bps, traffic, *case) for case in cases(num_optimized=4)]
    assert max(true_gain for _gain, true_gain in outcomes) < 1e-6
    believed = [gain.is_beyond_noise for gain, _true_gain in outcomes]
    assert sum(believed) <= 0.05 * len(believed)


@pytest.mark.parametrize("noise", NOISES)
def test_gain_on_hidden_racks_is_believed(noise: float) -> None:
    hidden = two_racks(np.arange(HOSTS) % 2)
    for seed in range(6):
        gain, true_gain = judged(hidden, ring(), noise, "optimize", seed)
        assert true_gain > 0.5
        assert gain.is_beyond_noise
        assert gain.low_ratio < true_gain < gain.high_ratio


def test_gain_on_pairs_of_their_own_rates_is_believed() -> None:
    for seed in range(12):
        factor = np.random.default_rng([1, seed]).lognormal(0, 0.5, (HOSTS, HOSTS))
        gain, true_gain = judged(FAST_BPS * factor, ring(), 0.05, "optimize", seed)
        assert true_gain > 0.05
        assert gain.is_beyond_noise
