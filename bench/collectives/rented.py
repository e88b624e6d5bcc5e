# SPDX-License-Identifier: Apache-2.0
"""A cloud by what the paper CMPI has of EC2: uneven pairs and directions, stable for two days.

A rented host is in a rack, a rack in a zone: racks below higher switches are what section 2.1 has
of all clouds. Latency and bandwidth of a pair follow from how near its hosts are, times what is the
pair's own, times what is its direction's own: a band of its own for each directed pair, as in
section 3.2. The last factor is calibrated so that among 128 hosts as
many pairs are asymmetric as in the paper, by its own discretisation (section 3, with k = 4 of
section 5.1).

python bench/collectives/cmpi_figures.py --item asymmetry --item figure-5     prints them
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

import fairlead as fl

Matrix = npt.NDArray[np.float64]

K = 4.0
"""The paper's factor of discretisation (section 5.1)."""

LEVELS_OF_64 = 4
ASYMMETRY_OF_128 = {"latency": 0.582, "bandwidth": 0.182}
"""The paper's values: figure 5 and section 3.2."""

RACK_HOSTS, ZONE_RACKS = 8, 3
"""So many hosts of one tenant are near: on average in a rack, and racks in a zone."""

LATENCY_S = (150e-6, 400e-6, 800e-6)
BANDWIDTH_Bps = (270e6, 61e6, 30e6)
"""In a rack, in a zone, across zones. The paper has no values, but its levels (with k = 4 all pairs
within 4 times the least time are one, so four need pairs that differ by more than 12 times), and
that all pairs of 128 hosts are measured in less than 100 s (section 3.1)."""

NIC_Bps = 340e6
"""A scatter of 200 blocks of 1 MB in 0.91 s (section 5.3) leaves its root at 219 MB/s at least."""

PAIR_SIGMA = {"latency": 0.25, "bandwidth": 0.15}
DIRECTION_SIGMA = {"latency": 0.2, "bandwidth": 0.0676}
"""Deviations of logarithms. The second gives the asymmetry that the paper found among 128 hosts."""

MOMENT_SIGMA = 0.08
"""Deviation of one measurement of a pair from its mean, so that times vary by less than 10 %
(section 5.3)."""


def rented(num_hosts: int, seed: int = 0) -> fl.Network:
    """The means of all pairs over days."""
    random = np.random.default_rng(seed)
    nearness = _nearness(num_hosts, random)
    factors = {
        name: _band(num_hosts, PAIR_SIGMA[name], DIRECTION_SIGMA[name], random)
        for name in ("latency", "bandwidth")
    }
    return _network(
        np.array(LATENCY_S)[nearness] * factors["latency"],
        np.array(BANDWIDTH_Bps)[nearness] / factors["bandwidth"],
    )


def moments(network: fl.Network, seed: int) -> Iterator[fl.Network]:
    """The same cloud at one time after the other: each pair moves within its band."""
    random = np.random.default_rng(seed)
    shape = network.latency_s.shape
    while True:
        slower = np.exp(MOMENT_SIGMA * random.standard_normal((2, *shape)))
        yield _network(network.latency_s * slower[0], network.bandwidth_Bps / slower[1])


def levels_of(slowness: Matrix) -> npt.NDArray[np.int64]:
    """Section 3: a value x is at level l if l <= x / (k min) < l + 1; the diagonal is at 0."""
    apart = ~np.eye(len(slowness), dtype=bool)
    levels = np.floor(slowness / (K * slowness[apart].min())).astype(np.int64)
    levels[~apart] = 0
    return levels


def asymmetry_ratio(slowness: Matrix) -> float:
    """Share of pairs of hosts whose two directions are at different levels."""
    levels = levels_of(slowness)
    first, second = np.triu_indices(len(levels), 1)
    return float(np.mean(levels[first, second] != levels[second, first]))


def slowness_of(network: fl.Network) -> dict[str, Matrix]:
    """Both matrices so that the least value is the best: latencies, and seconds for a byte."""
    return {"latency": network.latency_s, "bandwidth": 1 / network.bandwidth_Bps}


def _nearness(num_hosts: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """0: in a rack, 1: in a zone, 2: across zones; hosts in hidden order."""
    num_racks = max(1, round(num_hosts / RACK_HOSTS))
    rack = random.permutation(np.arange(num_hosts) % num_racks)
    zone = rack // ZONE_RACKS
    return (rack[:, None] != rack).astype(np.int64) + (zone[:, None] != zone)


def _band(num_hosts: int, pair: float, direction: float, random: np.random.Generator) -> Matrix:
    """By what each directed pair is slower than others as near."""
    shape = (num_hosts, num_hosts)
    own = np.triu(random.standard_normal(shape), 1)
    return np.exp(pair * (own + own.T) + direction * random.standard_normal(shape))


def _network(latency_s: Matrix, bandwidth_Bps: Matrix) -> fl.Network:
    bandwidth_Bps = np.minimum(bandwidth_Bps, NIC_Bps)
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(bandwidth_Bps, np.inf)
    nic_Bps = np.full(len(latency_s), NIC_Bps)
    return fl.Network(
        hosts=[f"host{index}" for index in range(len(latency_s))],
        latency_s=latency_s,
        bandwidth_Bps=bandwidth_Bps,
        nic_out_Bps=nic_Bps,
        nic_in_Bps=nic_Bps.copy(),
    )
