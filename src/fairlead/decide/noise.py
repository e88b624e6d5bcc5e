# SPDX-License-Identifier: Apache-2.0
"""The noise of a measured network, estimated over all pairs together.

The interval of one pair, the range of six samples, says next to nothing about the pair: a single
late message makes it twice as wide. The same program measured all pairs on the same day, so the
median of their intervals is taken as the noise of each.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.model.network import Network

__all__ = ["log_spread", "with_pooled_noise"]

Matrix = npt.NDArray[np.float64]

NORMAL_95 = 1.959964
"""Standard normal quantile of 0.975."""

LATENCY_RATIO = 2.0
BANDWIDTH_RATIO = 0.55
"""Standard deviation of one pair's values in repeated measurements, relative to the median
interval. Trains without a gap between them are late and early in turns, so their range is larger
than the error of their median; round trips are disturbed several at a time, so their range is
smaller. On recorded probes 0.47 to 0.64 and 1.3 to 2.7 (bench/probe/noise.py)."""


def log_spread(low: Matrix | None, high: Matrix | None) -> Matrix | None:
    """Standard deviation of the logarithm of each value, from its 95 % interval `low` to `high`.

    Returns:
        Shape as `low`; None where no interval is known at all.
    """
    if low is None or high is None:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.log(high / low) / (2 * NORMAL_95)
    is_known = np.isfinite(spread)
    if not is_known.any():
        return None
    # A pair with too few samples for an interval is as uncertain as the others, at least.
    return np.where(is_known, spread, np.median(spread[is_known]))


def with_pooled_noise(network: Network) -> Network:
    """The network with intervals as wide as the noise of all its pairs together.

    Args:
        network: Measured network; estimated pairs keep their own error bars, and values without
            intervals or counts of samples are taken as exact.
    """
    if network.samples is None:
        return network
    is_measured = network.samples > 0
    latency = _pooled(
        network.latency_s,
        network.latency_low_s,
        network.latency_high_s,
        is_measured,
        LATENCY_RATIO,
    )
    bandwidth = _pooled(
        network.bandwidth_Bps,
        network.bandwidth_low_Bps,
        network.bandwidth_high_Bps,
        is_measured,
        BANDWIDTH_RATIO,
    )
    return dataclasses.replace(
        network,
        latency_low_s=latency[0],
        latency_high_s=latency[1],
        bandwidth_low_Bps=bandwidth[0],
        bandwidth_high_Bps=bandwidth[1],
    )


def _pooled(
    value: Matrix,
    low: Matrix | None,
    high: Matrix | None,
    is_measured: npt.NDArray[np.bool_],
    ratio: float,
) -> tuple[Matrix | None, Matrix | None]:
    spread = log_spread(low, high)
    if spread is None or low is None or high is None or not is_measured.any():
        return low, high
    factor = np.exp(NORMAL_95 * ratio * float(np.median(spread[is_measured])))
    return np.where(is_measured, value / factor, low), np.where(is_measured, value * factor, high)
