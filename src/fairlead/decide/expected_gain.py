# SPDX-License-Identifier: Apache-2.0
"""The expected gain of a placement, and whether it is larger than the measurement's noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.decide.denoised_network import remove_noise
from fairlead.decide.noise import NORMAL_95, log_spread
from fairlead.model.bottleneck_group import BottleneckGroup
from fairlead.model.cost import costs_of
from fairlead.model.network import Network
from fairlead.model.placement import Placement
from fairlead.model.traffic import Traffic

DRAWS = 200

TOLERATED_RATIO = 0.02
"""A placement that is slower by no more than this is no loss: runs of one placement differ more."""


@dataclasses.dataclass(frozen=True)
class Gain:
    """Predicted time that a placement saves against a baseline, as fractions of the latter.

    Attributes:
        ratio: Expected gain: 1 - chosen / baseline.
        low_ratio, high_ratio: 95 % interval under the noise of the measurement.
        loss_risk: Probability that the placement is slower by more than `TOLERATED_RATIO`.
    """

    ratio: float
    low_ratio: float
    high_ratio: float
    loss_risk: float = 0.0

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the whole interval is a gain."""
        return self.low_ratio > 0


def expected_gain(
    chosen: Placement,
    baseline: Placement,
    traffic: Traffic,
    network: Network,
    seed: int = 0,
    *,
    cost: str = "serial_time_s",
) -> Gain:
    """Compare two placements by a predicted cost, with the noise of the measurement.

    The network is denoised first, since a placement that was chosen on the measured values also
    fits their noise; see `gain_under_noise` for the rest.

    Args:
        chosen: The placement in question.
        baseline: What it is compared with.
        traffic: Traffic of the application.
        network: Measured network; without intervals the expected gain is its own interval.
        seed: Seed of the draws.
        cost: The cost to compare: "serial_time_s" or another time of `Cost`.
    """
    return gain_under_noise(chosen, baseline, traffic, remove_noise(network), seed, cost=cost)


def gain_under_noise(
    chosen: Placement,
    baseline: Placement,
    traffic: Traffic,
    network: Network,
    seed: int = 0,
    *,
    cost: str = "serial_time_s",
) -> Gain:
    """Compare two placements that do not depend on this network's noise; see `expected_gain`.

    Each pair's latency and bandwidth is drawn anew from a lognormal distribution around its value
    and as wide as the noise, independent of the others except where one measurement holds for both
    directions; so is each interface, and each group of pairs behind one bottleneck as wide as the
    interval of its capacity. Both placements are evaluated on the same draws.

    Source: the interval is a parametric bootstrap; the times, with their sources, are those of
    `fairlead.model.cost.Cost`.
    """
    before, after = costs_of(baseline, traffic), costs_of(chosen, traffic)

    def gain(drawn: Network) -> float:
        before_s, after_s = (float(getattr(costs(drawn), cost)) for costs in (before, after))
        return 1 - after_s / before_s if before_s > 0 else 0.0

    random = np.random.default_rng(seed)
    gains = [gain(_redrawn(network, random)) for _ in range(DRAWS)]
    low, high = np.quantile(gains, [0.025, 0.975])
    risk = float(np.mean(np.array(gains) < -TOLERATED_RATIO))
    return Gain(gain(network), float(low), float(high), risk)


def _redrawn(network: Network, random: np.random.Generator) -> Network:
    return dataclasses.replace(
        network,
        latency_s=_draw(network.latency_s, network.latency_low_s, network.latency_high_s, random),
        bandwidth_Bps=_draw(
            network.bandwidth_Bps, network.bandwidth_low_Bps, network.bandwidth_high_Bps, random
        ),
        nic_out_Bps=_drawn_interfaces(network.nic_out_Bps, network, random),
        nic_in_Bps=_drawn_interfaces(network.nic_in_Bps, network, random),
        groups=[_drawn_group(group, random) for group in network.groups],
    )


def _drawn_interfaces(
    capacity_Bps: npt.NDArray[np.float64] | None, network: Network, random: np.random.Generator
) -> npt.NDArray[np.float64] | None:
    """An interface's capacity has no interval of its own; its error is that of its flows."""
    spread = log_spread(network.bandwidth_low_Bps, network.bandwidth_high_Bps)
    if capacity_Bps is None or spread is None:
        return capacity_Bps
    error = random.standard_normal(len(capacity_Bps))
    return np.asarray(capacity_Bps * np.exp(error * float(np.median(spread))))


def _drawn_group(group: BottleneckGroup, random: np.random.Generator) -> BottleneckGroup:
    if not 0 < group.capacity_low_Bps < group.capacity_high_Bps < np.inf:
        return group
    spread = np.log(group.capacity_high_Bps / group.capacity_low_Bps) / (2 * NORMAL_95)
    factor = float(np.exp(random.standard_normal() * spread))
    return dataclasses.replace(group, capacity_Bps=group.capacity_Bps * factor)


def _draw(
    value: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64] | None,
    high: npt.NDArray[np.float64] | None,
    random: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Lognormal draw around `value` whose 95 % interval is as wide as `low` to `high`."""
    spread = log_spread(low, high)
    if spread is None or low is None or high is None:
        return value
    error = random.standard_normal(value.shape)
    # A round trip gives one latency for both directions: they have the same error, which must not
    # average out.
    is_one = (low == low.T) & (high == high.T)
    error = np.where(is_one, np.triu(error) + np.triu(error, 1).T, error)
    noisy = value * np.exp(error * spread)
    return np.where(np.eye(len(value), dtype=bool), value, noisy)
