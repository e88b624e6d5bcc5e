# SPDX-License-Identifier: Apache-2.0
"""What a placement is expected to gain, and whether the measurement can tell that from noise."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.mapping import evaluate
from fairlead.network import Network
from fairlead.placement import Placement
from fairlead.traffic import Traffic

DRAWS = 200
NORMAL_95 = 1.959964  # Standard normal quantile of 0.975.


@dataclasses.dataclass(frozen=True)
class Gain:
    """Predicted time that a placement saves against a baseline, as fractions of the latter.

    Attributes:
        ratio: Expected gain: 1 - chosen / baseline.
        low_ratio, high_ratio: 95 % interval under the intervals of the measured network.
    """

    ratio: float
    low_ratio: float
    high_ratio: float

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
    cost: str = "comm_time_s",
) -> Gain:
    """Compare two placements by a predicted cost, with the noise of the measurement.

    Each pair's latency and bandwidth is drawn anew from its confidence interval, independent of
    the others, and both placements are evaluated on the same draws.

    Args:
        chosen: The placement in question.
        baseline: What it is compared with.
        traffic: Traffic of the application.
        network: Measured network; without intervals the expected gain is its own interval.
        seed: Seed of the draws.
        cost: What they are compared by: "comm_time_s" or "bottleneck_s".

    Source: CloudMap eq. 4 for the time; the interval is a parametric bootstrap.
    """

    def gain(drawn: Network) -> float:
        before_s = float(getattr(evaluate(baseline, traffic, drawn), cost))
        after_s = float(getattr(evaluate(chosen, traffic, drawn), cost))
        return 1 - after_s / before_s if before_s > 0 else 0.0

    random = np.random.default_rng(seed)
    gains = [gain(_redrawn(network, random)) for _ in range(DRAWS)]
    low, high = np.quantile(gains, [0.025, 0.975])
    return Gain(gain(network), float(low), float(high))


def _redrawn(network: Network, random: np.random.Generator) -> Network:
    return dataclasses.replace(
        network,
        latency_s=_draw(network.latency_s, network.latency_low_s, network.latency_high_s, random),
        bandwidth_Bps=_draw(
            network.bandwidth_Bps, network.bandwidth_low_Bps, network.bandwidth_high_Bps, random
        ),
    )


def _draw(
    value: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64] | None,
    high: npt.NDArray[np.float64] | None,
    random: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Lognormal draw around `value` whose 95 % interval is `low` to `high`."""
    if low is None or high is None:
        return value
    drawn = random.standard_normal(value.shape)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.log(high / low) / (2 * NORMAL_95)
    is_known = np.isfinite(spread)
    if not is_known.any():
        return value
    # A pair with too few samples for an interval is as uncertain as the others, at least.
    spread = np.where(is_known, spread, np.median(spread[is_known]))
    noisy = value * np.exp(drawn * spread)
    return np.where(np.eye(len(value), dtype=bool), value, noisy)
