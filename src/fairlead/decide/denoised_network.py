# SPDX-License-Identifier: Apache-2.0
"""The most likely true values of a measured network, given the noise of the measurement.

A placement chosen on noisy values prefers the pairs that the noise made look fast. Denoised values
avoid this: they are moved together by as much as the noise has spread them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from fairlead.decide.noise import log_spread
from fairlead.model.network import Network

__all__ = ["remove_noise", "shrunk"]

Matrix = npt.NDArray[np.float64]

SPLIT_PARAMETERS = 3
"""Parameters that a split into two groups adds: a mean, a spread and a share."""


def remove_noise(network: Network) -> Network:
    """The network with the noise removed from each pair's latency and bandwidth.

    Args:
        network: Measured network; values without intervals stay as they are. So do communication
            inside a host, interfaces and shared bottlenecks.
    """
    return dataclasses.replace(
        network,
        latency_s=_remove_noise(network.latency_s, network.latency_low_s, network.latency_high_s),
        bandwidth_Bps=_remove_noise(
            network.bandwidth_Bps, network.bandwidth_low_Bps, network.bandwidth_high_Bps
        ),
    )


def shrunk(values: Matrix, spread: Matrix) -> Matrix:
    """Noisy values moved towards the mean of their group.

    The values are split into groups that are each roughly normal. In a group, the variance that the
    noise does not explain is taken as real, and each value keeps this part of its distance to the
    mean.

    Args:
        values: Length N.
        spread: Standard deviation of the noise in each, length N; 0 where it is exact.

    Source: Efron and Morris 1973 (empirical Bayes) in each group.
    """
    order = np.argsort(values, kind="stable")
    moved = values.copy()
    for group in np.split(order, _borders(values[order], float(np.mean(spread**2)))):
        if len(group) > 1:
            moved[group] = _towards_mean(values[group], spread[group] ** 2)
    return moved


def _remove_noise(value: Matrix, low: Matrix | None, high: Matrix | None) -> Matrix:
    spread = log_spread(low, high)
    if spread is None:
        return value
    is_pair = ~np.eye(len(value), dtype=bool) & np.isfinite(value) & (value > 0)
    if not spread[is_pair].any():
        return value
    moved = value.copy()
    moved[is_pair] = np.exp(shrunk(np.log(value[is_pair]), spread[is_pair]))
    return moved


def _towards_mean(values: Matrix, noise_variance: Matrix) -> Matrix:
    real_variance = max(0.0, values.var(ddof=1) - noise_variance.mean())
    kept_ratio = np.ones_like(values)
    is_noisy = noise_variance > 0
    kept_ratio[is_noisy] = real_variance / (real_variance + noise_variance[is_noisy])
    return np.asarray(values.mean() + kept_ratio * (values - values.mean()))


def _borders(values: Matrix, noise_variance: float) -> list[int]:
    """Positions at which sorted values split into groups, ascending."""
    borders = []
    pending = [(0, len(values))]
    while pending:
        begin, end = pending.pop()
        split = _best_split(values[begin:end], noise_variance)
        if split:
            borders.append(begin + split)
            pending += [(begin, begin + split), (begin + split, end)]
    return sorted(borders)


def _best_split(values: Matrix, noise_variance: float) -> int:
    """Size of the lower of two groups that explain sorted values better than one; 0 if none do.

    Groups are normal, with a spread of the noise's at least. What is compared is the likelihood
    of the values with the group of each, less the cost of the further parameters.

    Source: Symons 1981 (classification likelihood); Schwarz 1978 (cost of parameters).
    """
    total = len(values)
    if total < 2:
        return 0
    lower = np.arange(1, total)
    upper = total - lower
    centred = values - values.mean()
    sums, squares = np.cumsum(centred), np.cumsum(centred**2)

    def log_variance(square: Matrix, mean: Matrix) -> Matrix:
        return np.asarray(np.log(np.maximum(square - mean**2, noise_variance)))

    together = log_variance(squares[-1] / total, np.zeros(1))
    below = log_variance(squares[:-1] / lower, sums[:-1] / lower)
    above = log_variance((squares[-1] - squares[:-1]) / upper, (sums[-1] - sums[:-1]) / upper)
    likelihood = (total * together - lower * below - upper * above) / 2
    likelihood += lower * np.log(lower / total) + upper * np.log(upper / total)
    best = int(np.argmax(likelihood))
    return best + 1 if likelihood[best] > SPLIT_PARAMETERS / 2 * np.log(total) else 0
