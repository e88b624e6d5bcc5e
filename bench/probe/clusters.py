# SPDX-License-Identifier: Apache-2.0
"""Simulated clusters: hidden racks in pods, hosts of their own speed, asymmetry, noise."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Cloud:
    """What is drawn; deviations are those of natural logarithms.

    Levels are within a rack, within a pod, and between pods.
    """

    hosts_per_rack: int = 16
    racks_per_pod: int = 4
    latency_s: tuple[float, float, float] = (20e-6, 50e-6, 100e-6)
    bandwidth_Bps: tuple[float, float, float] = (1.2e9, 600e6, 300e6)
    host_deviation: float = 0.1
    pair_deviation: float = 0.1
    direction_deviation: float = 0.1
    slow_hosts_ratio: float = 0.05
    noise: float = 0.05


CLOUDS = {
    "racks": Cloud(),
    "flat": Cloud(latency_s=(50e-6,) * 3, bandwidth_Bps=(1e9,) * 3),
    "pairwise": Cloud(
        latency_s=(50e-6,) * 3,
        bandwidth_Bps=(300e6,) * 3,
        pair_deviation=0.5,
        direction_deviation=0.5,
    ),
}


class Drawn(NamedTuple):
    """A cluster: what is true, what a measurement finds, and the rack of each host."""

    latency_s: Matrix
    bandwidth_Bps: Matrix
    measured_latency_s: Matrix
    measured_bandwidth_Bps: Matrix
    rack: npt.NDArray[np.int64]


def draw(cloud: Cloud, num_hosts: int, seed: int) -> Drawn:
    """Draw a cluster of H hosts in hidden order; matrices of shape (H, H), [src, dst]."""
    random = np.random.default_rng(seed)
    rack = random.permutation(num_hosts) // cloud.hosts_per_rack
    pod = rack // cloud.racks_per_pod
    level = 2 - (pod[:, None] == pod).astype(int) - (rack[:, None] == rack)
    # Latency is measured as half a round trip, so it is the same both ways.
    latency = np.array(cloud.latency_s)[level] * np.exp(
        _symmetric(random, num_hosts, cloud.pair_deviation)
    )
    out, into = np.exp(random.normal(0, cloud.host_deviation, (2, num_hosts)))
    slow = np.where(random.random(num_hosts) < cloud.slow_hosts_ratio, 0.4, 1.0)
    bandwidth = (
        np.array(cloud.bandwidth_Bps)[level]
        * np.minimum.outer(slow, slow)
        * np.outer(out, into)
        * np.exp(_symmetric(random, num_hosts, cloud.pair_deviation))
        * np.exp(random.normal(0, cloud.direction_deviation, (num_hosts, num_hosts)))
    )
    np.fill_diagonal(latency, 0.0)
    np.fill_diagonal(bandwidth, np.inf)
    noise = np.exp(_symmetric(random, num_hosts, cloud.noise))
    directed = np.exp(random.normal(0, cloud.noise, (num_hosts, num_hosts)))
    return Drawn(latency, bandwidth, latency * noise, bandwidth * directed, rack)


def _symmetric(random: np.random.Generator, size: int, deviation: float) -> Matrix:
    upper = np.triu(random.normal(0, deviation, (size, size)), 1)
    return np.asarray(upper + upper.T)
