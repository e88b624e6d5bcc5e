# SPDX-License-Identifier: Apache-2.0
"""The clouds of CloudMap's evaluation, as its text describes them, to be simulated.

Section II-A: pairs have the same speed in both directions; their latency quadruples at times of
the day, their bandwidth changes less; speeds hold for some hours; medians of pairs are similar.
Table I: interfaces of 2, 10 and 8 Gbit/s with 8, 8 and 32 cores. What the text leaves open is
ours: the least latency, how long a speed holds, that a pair is slow for three tenths of the time,
and that a bandwidth falls by the root of what the latency rises by.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import numpy.typing as npt

import fairlead as fl

Matrix = npt.NDArray[np.float64]

LATENCY_RATIO = 4.0  # "quadruple", section II-A.
BANDWIDTH_EXPONENT = 0.5
LASTING_SPREAD = 0.1  # Standard deviation of a pair's logarithm, for good.
SLOW_SHARE = 0.3  # Part of the time, so that a pair's median is that of its good hours.
LEVEL_SPREAD = 0.2  # Deviation of LATENCY_RATIO's exponent, in good hours and for slow ones.
HOLD_H = 4.0  # Mean time that a pair keeps its speed, at least LEAST_HOLD_H.
LEAST_HOLD_H = 1.0
NOISE = 0.03  # Relative deviation of a one-minute mean.
DAYS_H = 48.0


@dataclasses.dataclass(frozen=True)
class Instance:
    """An instance size of table I.

    Attributes:
        nic_Bps: The interface, in each direction.
        least_latency_s: Between two instances at the best time.
        inside_Bps, inside_latency_s: Memory, shared by the ranks of an instance.
    """

    name: str
    cores: int
    nic_Bps: float
    least_latency_s: float
    inside_Bps: float
    inside_latency_s: float = 1e-6


A7 = Instance("A7", 8, 2e9 / 8, 20e-6, 20e9)
A8 = Instance("A8", 8, 10e9 / 8, 4e-6, 20e9)
G5 = Instance("G5", 32, 8e9 / 8, 8e-6, 40e9)
"""Latencies: A8 is 5 times as fast as A7 (section VI-A3), G5 between them (VI-A4)."""


@dataclasses.dataclass(frozen=True)
class Cloud:
    """Instances whose pairs change over two days; the same for the same seed."""

    instance: Instance
    num_hosts: int
    seed: int = 0

    @property
    def hosts(self) -> list[str]:
        return [f"h{host}" for host in range(self.num_hosts)]

    @property
    def cluster(self) -> fl.Cluster:
        return fl.Cluster.uniform(self.hosts, self.instance.cores)

    def at(self, hour: float, noise: np.random.Generator | None = None) -> fl.Network:
        """The network at a time, as a perfect profile has it, or with the noise of measuring."""
        slower, lasting = self._course.slower_at(hour), self._course.lasting
        latency_s = self.instance.least_latency_s * lasting * slower
        bandwidth_Bps = self.instance.nic_Bps / slower**BANDWIDTH_EXPONENT
        if noise is not None:
            shape = (self.num_hosts, self.num_hosts)
            latency_s = latency_s * (1 + NOISE * noise.standard_normal(shape))
            bandwidth_Bps = bandwidth_Bps * (1 + NOISE * noise.standard_normal(shape))
        np.fill_diagonal(latency_s, 0.0)
        np.fill_diagonal(bandwidth_Bps, np.inf)
        nic_Bps = np.full(self.num_hosts, self.instance.nic_Bps)
        return fl.Network(
            self.hosts, latency_s, bandwidth_Bps, nic_out_Bps=nic_Bps, nic_in_Bps=nic_Bps
        )

    @functools.cached_property
    def _course(self) -> Course:
        return Course.drawn(self.num_hosts, np.random.default_rng((self.seed, self.num_hosts)))


@dataclasses.dataclass(frozen=True)
class Course:
    """How much slower than at best each pair is, over time.

    Attributes:
        lasting: Factor of each pair for good, shape (H, H).
        changes_h: When each pair changes, shape (H, H, N), increasing.
        slower: Factor from each change on, shape (H, H, N), from 1 to LATENCY_RATIO.
    """

    lasting: Matrix
    changes_h: npt.NDArray[np.float64]
    slower: npt.NDArray[np.float64]

    @classmethod
    def drawn(cls, num_hosts: int, rng: np.random.Generator) -> Course:
        shape = (num_hosts, num_hosts, int(DAYS_H / LEAST_HOLD_H) + 1)
        held_h = LEAST_HOLD_H + rng.exponential(HOLD_H - LEAST_HOLD_H, shape)
        changes_h = np.cumsum(held_h, axis=2) - held_h[:, :, :1]
        is_slow = rng.random(shape) < SLOW_SHARE
        within = LEVEL_SPREAD * rng.random(shape)
        slower = LATENCY_RATIO ** np.where(is_slow, 1 - within, within)
        lasting = np.exp(LASTING_SPREAD * rng.standard_normal(shape[:2]))
        return cls(*(mirrored(values) for values in (lasting, changes_h, slower)))

    def slower_at(self, hour: float) -> Matrix:
        latest = np.maximum(0, (self.changes_h <= hour).sum(axis=2) - 1)
        return np.take_along_axis(self.slower, latest[:, :, None], axis=2)[:, :, 0]


def mirrored(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of the pairs with src < dst for both directions."""
    above = np.triu(np.ones(values.shape[:2], dtype=bool))
    turned = np.swapaxes(values, 0, 1)
    return np.where(above.reshape(above.shape + (1,) * (values.ndim - 2)), values, turned)
