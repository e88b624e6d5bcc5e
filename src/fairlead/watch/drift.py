# SPDX-License-Identifier: Apache-2.0
"""Checks whether a kept network has changed, by measuring a few pairs of a few hosts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.decide.noise import log_spread, with_pooled_noise
from fairlead.model.network import Network

__all__ = [
    "DRIFT_RATIO",
    "choose_hosts",
    "find_drifted_pairs",
    "noise_of_change",
    "pairs_to_measure_again",
]

Mask = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.float64]

DRIFT_RATIO = 0.2
"""A pair has drifted when it changed by more than this."""

CERTAIN_SIGMAS = 2.5
"""A change within so many standard deviations of both measurements is noise."""


def choose_hosts(kept: Network, seed: int) -> list[int]:
    """Three hosts that represent the network: a random one, one near to it and one far from it.

    Starting three processes takes a fraction of the time of starting all, and gives three pairs.

    Args:
        kept: The measured pairs, `nan` elsewhere.
        seed: Another seed chooses other hosts, so that over time all hosts are checked.

    Returns:
        Positions of the hosts; fewer than three where fewer pairs were measured.
    """
    random = np.random.default_rng(seed)
    is_known = np.isfinite(kept.bandwidth_Bps)
    hosts = np.flatnonzero(is_known.any(axis=1))
    if not hosts.size:
        return []
    host = int(random.choice(hosts))
    partners = np.flatnonzero(is_known[host])
    far, near = np.array_split(
        partners[np.argsort(-kept.bandwidth_Bps[host, partners], kind="stable")][::-1], 2
    )
    return [host, *(int(random.choice(part)) for part in (near, far) if part.size)]


def find_drifted_pairs(kept: Network, now: Network, spread: float | None = None) -> Mask:
    """Pairs whose bandwidth has changed, in either direction, by more than `DRIFT_RATIO`.

    Args:
        kept: Earlier values, measured with the same kind of messages.
        now: The same hosts, measured again; `nan` where not.
        spread: Standard deviation of the logarithm of a value, where repeated measurements have
            shown it; by default it is taken from the intervals of both.

    Returns:
        Symmetric, shape (H, H).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        change: Matrix = np.abs(np.log(now.bandwidth_Bps / kept.bandwidth_Bps))
    least = np.maximum(np.log1p(DRIFT_RATIO), noise_of_change(kept, now, spread))
    is_drifted = np.isfinite(change) & (change > least)
    np.fill_diagonal(is_drifted, False)
    return np.asarray(is_drifted | is_drifted.T)


def noise_of_change(kept: Network, now: Network, spread: float | None = None) -> Matrix:
    """Largest change, as a logarithm, that is noise; shape (H, H), arguments as above."""
    variance = (
        np.full_like(now.bandwidth_Bps, 2 * spread**2)
        if spread is not None
        else _noise_variance(kept) + _noise_variance(now)
    )
    return np.asarray(CERTAIN_SIGMAS * np.sqrt(variance))


def _noise_variance(network: Network) -> Matrix:
    """Variance of the logarithm of each bandwidth, shape (H, H); 0 where it is exact."""
    pooled = with_pooled_noise(network)
    spread = log_spread(pooled.bandwidth_low_Bps, pooled.bandwidth_high_Bps)
    return np.zeros_like(network.bandwidth_Bps) if spread is None else spread**2


def pairs_to_measure_again(drifted: Mask) -> Mask:
    """All pairs of the hosts that have drifted, since the cause may affect all of them."""
    hosts: Mask = np.any(drifted, axis=0)
    again = hosts[:, None] | hosts[None, :]
    np.fill_diagonal(again, False)
    return np.asarray(again)
