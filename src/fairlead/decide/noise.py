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

__all__ = ["late_spread", "log_spread", "with_pooled_noise"]

Matrix = npt.NDArray[np.float64]

NORMAL_95 = 1.959964
"""Standard normal quantile of 0.975."""

LATENCY_RATIO = 2.0
BANDWIDTH_RATIO = 0.8
"""Standard deviation of one pair's values in repeated measurements, relative to what the median
interval says. Trains without a gap between them are late and early in turns, so their range is
larger than the error of their median; round trips are disturbed several at a time, so their range
is smaller. On recorded probes 0.68 to 0.95 and 1.3 to 2.7 (bench/probe/noise.py)."""


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


def late_spread(value: Matrix, low: Matrix) -> Matrix:
    """Standard deviation of the logarithm of each bandwidth, from the lower end of its interval.

    The upper end says nothing about a network where the receiver did not run: messages that waited
    for it arrive at once, a hundred times as fast as any interface.

    Returns:
        Shape as `value`; `nan` where no interval is known.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.log(value / low) / NORMAL_95
    return np.where(np.isfinite(spread), spread, np.nan)


def with_pooled_noise(network: Network) -> Network:
    """The network with intervals as wide as the noise of all its pairs together.

    Args:
        network: Measured network; estimated pairs keep their own error bars, and values without
            intervals or counts of samples are taken as exact.
    """
    if network.samples is None:
        return network
    is_measured = network.samples > 0
    latency_low_s, latency_high_s = network.latency_low_s, network.latency_high_s
    spread = log_spread(latency_low_s, latency_high_s)
    latency = _pool_intervals(
        network.latency_s,
        latency_low_s,
        latency_high_s,
        is_measured,
        None if spread is None else LATENCY_RATIO * spread,
    )
    low_Bps = network.bandwidth_low_Bps
    bandwidth = _pool_intervals(
        network.bandwidth_Bps,
        low_Bps,
        network.bandwidth_high_Bps,
        is_measured,
        None if low_Bps is None else BANDWIDTH_RATIO * late_spread(network.bandwidth_Bps, low_Bps),
    )
    return dataclasses.replace(
        network,
        latency_low_s=latency[0],
        latency_high_s=latency[1],
        bandwidth_low_Bps=bandwidth[0],
        bandwidth_high_Bps=bandwidth[1],
    )


def _pool_intervals(
    value: Matrix,
    low: Matrix | None,
    high: Matrix | None,
    is_measured: npt.NDArray[np.bool_],
    spread: Matrix | None,
) -> tuple[Matrix | None, Matrix | None]:
    """Intervals of all measured pairs by the median of their spreads."""
    if spread is None or low is None or high is None:
        return low, high
    known = spread[is_measured & np.isfinite(spread)]
    if not known.size:
        return low, high
    factor = np.exp(NORMAL_95 * float(np.median(known)))
    return np.where(is_measured, value / factor, low), np.where(is_measured, value * factor, high)
