# SPDX-License-Identifier: Apache-2.0
"""Sentences about the estimated pairs of a sampled network."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.model.network import Network

Matrix = npt.NDArray[np.float64]


def estimate_lines(network: Network) -> list[str]:
    """How many pairs are estimates, and how long their error bars are; none without a sample."""
    estimated = network.is_estimated()
    if not estimated.any():
        sample = network.origin.get("sample")
        return ["All pairs were measured, so none is an estimate."] if sample else []
    num_pairs = estimated.size - len(estimated)
    share = 100 * np.count_nonzero(estimated) / num_pairs
    bars = {
        "latency": _bar(
            network.latency_s, network.latency_low_s, network.latency_high_s, estimated
        ),
        "bandwidth": _bar(
            network.bandwidth_Bps,
            network.bandwidth_low_Bps,
            network.bandwidth_high_Bps,
            estimated,
        ),
    }
    listed = ", ".join(f"{name} {bar}" for name, bar in bars.items() if bar)
    return [
        f"{share:.0f} % of the directed pairs are estimates ({np.count_nonzero(estimated)} of "
        f"{num_pairs}), made from the measured ones; median 95 % error bar: {listed or 'unknown'}."
    ]


def _bar(
    value: Matrix, low: Matrix | None, high: Matrix | None, chosen: npt.NDArray[np.bool_]
) -> str:
    """Such as "-20 % to +25 %": the median error bar of the chosen pairs; empty without one."""
    if low is None or high is None:
        return ""
    below, above = low[chosen] / value[chosen] - 1, high[chosen] / value[chosen] - 1
    known = np.isfinite(below) & np.isfinite(above)
    if not known.any():
        return ""
    return f"{100 * np.median(below[known]):+.0f} % to {100 * np.median(above[known]):+.0f} %"
