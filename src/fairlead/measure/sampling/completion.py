# SPDX-License-Identifier: Apache-2.0
"""Fills the unmeasured pairs of a network and marks them as estimates."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from fairlead.measure.sampling.estimation import Estimate, Quantity, estimate
from fairlead.model.network import Network

Matrix = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MIN_MEASURED_PAIRS = 10
"""Fewer measured pairs of a quantity are too few to estimate others; two for each fold."""


def complete(network: Network, is_lost: Mask | None = None, seed: int = 0) -> Network:
    """Estimate the unmeasured pairs from the measured ones, each with an error bar.

    Measured pairs keep their value, their interval and their samples; estimated ones have 0
    samples, and their interval should contain the true value in 95 % of the pairs.

    Args:
        network: Measured in part. Pairs of a host without any measured pair stay `nan`, and all do
            where fewer than ten pairs were measured.
        is_lost: Pairs that stay `nan`, shape (H, H), [src, dst]: a measurement was tried, but the
            hosts could not reach each other.
        seed: Seed of the draw of the held-out pairs.

    Returns:
        The network with `origin["how"]` "sampled", and in `origin["sample"]` how many pairs were
        measured, the way each quantity was estimated, and the median error bar as a fraction.
    """
    others = ~np.eye(network.num_hosts, dtype=bool)
    measured = others & (np.isfinite(network.latency_s) | np.isfinite(network.bandwidth_Bps))
    estimates = estimate_network(network, seed)
    sample: dict[str, Any] = {
        "measured_pairs": int(np.triu(measured | measured.T).sum()),
        "all_pairs": network.num_hosts * (network.num_hosts - 1) // 2,
    }
    reachable = measured.any(axis=0) | measured.any(axis=1)
    is_filled = others & np.outer(reachable, reachable)
    if is_lost is not None:
        is_filled &= ~is_lost
    changes: dict[str, Any] = {"samples": _samples(network, measured)}
    for name, unit in (("latency", "s"), ("bandwidth", "Bps")):
        found = estimates.get(name)
        if found is None:
            continue
        field = f"{name}_{unit}"
        is_new = is_filled & np.isnan(getattr(network, field))
        sample[f"{name}_method"] = found.method
        if is_new.any():
            sample[f"{name}_error_bar_ratio"] = float(np.expm1(np.median(found.bar[is_new])))
        for part, sign in ((field, 0), (f"{name}_low_{unit}", -1), (f"{name}_high_{unit}", 1)):
            changes[part] = _fill(network, part, is_new, found.values + sign * found.bar)
    origin = {**network.origin, "how": "sampled", "sample": sample}
    return dataclasses.replace(network, origin=origin, **changes)


def estimate_network(network: Network, seed: int = 0) -> dict[str, Estimate]:
    """Estimates of "latency" and "bandwidth", shape (H, H); none where too little is known."""
    logs = {
        "latency": Quantity(_logarithms(network.latency_s), is_low_near=True),
        "bandwidth": Quantity(_logarithms(network.bandwidth_Bps), is_low_near=False),
    }
    known = {
        name: quantity
        for name, quantity in logs.items()
        if np.triu(np.isfinite(quantity.values)).sum() >= MIN_MEASURED_PAIRS
    }
    if not known:
        return {}
    return dict(zip(known, estimate(list(known.values()), seed), strict=True))


def nearness(network: Network) -> Matrix:
    """How near hosts are by the measurements, larger is nearer, shape (H, H); `nan` if unknown.

    The mean of short latency and of high bandwidth, each in units of its own spread.
    """
    parts = []
    for matrix, sign in ((network.latency_s, -1.0), (network.bandwidth_Bps, 1.0)):
        scores = sign * _logarithms(matrix)
        known = np.isfinite(scores)
        if known.any():
            parts.append((scores - np.median(scores[known])) / (np.std(scores[known]) or 1.0))
    mean = np.mean(parts, axis=0) if parts else np.full_like(network.latency_s, np.nan)
    return np.asarray((mean + mean.T) / 2)


def _logarithms(matrix: Matrix) -> Matrix:
    """Natural logarithms, `nan` where unmeasured and on the diagonal."""
    usable = np.isfinite(matrix) & (matrix > 0) & ~np.eye(len(matrix), dtype=bool)
    return np.log(matrix, where=usable, out=np.full_like(matrix, np.nan))


def _fill(network: Network, field: str, is_new: Mask, logarithms: Matrix) -> Matrix:
    before = getattr(network, field)
    if before is None:
        before = np.full((network.num_hosts, network.num_hosts), np.nan)
    return np.where(is_new, np.exp(logarithms), before)


def _samples(network: Network, measured: Mask) -> npt.NDArray[np.int64]:
    """Measurements behind each pair; at least one where there is a value."""
    if network.samples is None:
        return measured.astype(np.int64)
    return np.where(measured, np.maximum(network.samples, 1), network.samples)
