# SPDX-License-Identifier: Apache-2.0
"""A cloud whose pairs change over days, to be simulated.

Each directed pair has a rate and a latency of its own, as `pairwise` has rates; both vary with a
correlation time of some hours, are worse by day than by night, and now and then a pair loses most
of its rate for about an hour. The numbers are ours, chosen to look as CloudMap, section III,
describes a cloud: severalfold apart and different within hours. The paper's own measurements are
not available.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

import fairlead as fl

Matrix = npt.NDArray[np.float64]

NUM_HOSTS = 8
MEDIAN_Bps, MEDIAN_LATENCY_S = 300e6 / 8, 100e-6
NIC_Bps = 1e9 / 8
SPREAD = 0.6  # Standard deviation of a pair's logarithm, for good and for some hours each.
MEMORY_H = 4.0  # After which a pair's deviation has fallen to 1/e.
BY_DAY = 0.25  # How much worse than on average at 14 o'clock, in logarithms.
COLLAPSES_PER_H = 0.005  # Of each pair.
COLLAPSE_H, COLLAPSED_RATIO = 1.0, 0.15


@dataclasses.dataclass(frozen=True)
class Moment:
    """The network at a given time.

    Attributes:
        hour: Since the first midnight.
    """

    hour: float
    network: fl.Network


def two_days(step_h: float, seed: int = 0, hours: float = 48.0) -> Iterator[Moment]:
    """The network every `step_h` hours, without the noise of measuring it.

    Each pair's deviation is a discrete Ornstein-Uhlenbeck process.
    """
    rng = np.random.default_rng(seed)
    shape = (2, NUM_HOSTS, NUM_HOSTS)
    lasting, passing = SPREAD * rng.standard_normal(shape), SPREAD * rng.standard_normal(shape)
    collapsed_until_h = np.full(shape[1:], -math.inf)
    kept = math.exp(-step_h / MEMORY_H)
    for step in range(round(hours / step_h) + 1):
        hour = step * step_h
        if step:
            passing = kept * passing + math.sqrt(1 - kept**2) * SPREAD * rng.standard_normal(shape)
            starts = rng.random(shape[1:]) < 1 - math.exp(-COLLAPSES_PER_H * step_h)
            collapsed_until_h[starts] = hour + COLLAPSE_H
        worse = BY_DAY * math.cos((hour - 14) / 24 * 2 * math.pi)
        rate_Bps = MEDIAN_Bps * np.exp((lasting + passing)[0] - worse)
        rate_Bps[collapsed_until_h > hour] *= COLLAPSED_RATIO
        latency_s = MEDIAN_LATENCY_S * np.exp((lasting + passing)[1] + worse)
        yield Moment(hour, network_of(latency_s, np.minimum(rate_Bps, NIC_Bps)))


def network_of(latency_s: Matrix, rate_Bps: Matrix) -> fl.Network:
    np.fill_diagonal(latency_s, 0.0)
    np.fill_diagonal(rate_Bps, np.inf)
    hosts = [f"h{host}" for host in range(len(rate_Bps))]
    nic_Bps = np.full(len(hosts), NIC_Bps)
    return fl.Network(
        hosts,
        latency_s,
        rate_Bps,
        nic_out_Bps=nic_Bps,
        nic_in_Bps=nic_Bps,
        origin={"how": "given"},
    )
