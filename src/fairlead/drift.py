# SPDX-License-Identifier: Apache-2.0
"""Whether a kept network still is as it was: a few pairs are measured, by a few hosts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fairlead.likely_network import log_spread
from fairlead.network import Network
from fairlead.noise import with_pooled_noise

__all__ = ["DRIFT_RATIO", "checked_pairs", "drifted_pairs", "pairs_to_measure_again"]

Mask = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.float64]

DRIFT_RATIO = 0.2
"""A pair has drifted when it changed by more than this."""

NUM_CHECKED = 3
"""Pairs of one check, of different hosts: six processes start in a fraction of what all take."""

CERTAIN_SIGMAS = 2.5
"""A change within so many standard deviations of both measurements is noise."""

Pair = tuple[int, int]


def checked_pairs(kept: Network, seed: int) -> list[Pair]:
    """Pairs that stand for the network: of each third of the bandwidths one, of hosts of its own.

    Args:
        kept: What was measured, `nan` elsewhere.
        seed: Another one chooses others, so that in time each pair has its turn.
    """
    rows, columns = np.nonzero(np.triu(np.isfinite(kept.bandwidth_Bps), 1))
    order = np.argsort(kept.bandwidth_Bps[rows, columns], kind="stable")
    random = np.random.default_rng(seed)
    chosen: list[Pair] = []
    taken: set[int] = set()
    thirds = np.array_split(order, NUM_CHECKED)
    for which in random.permutation(NUM_CHECKED):
        third = thirds[which]
        for index in random.permutation(third):
            src, dst = int(rows[index]), int(columns[index])
            if not {src, dst} & taken:
                chosen.append((src, dst))
                taken |= {src, dst}
                break
    return chosen


def drifted_pairs(kept: Network, now: Network) -> Mask:
    """Pairs whose bandwidth has changed, in either direction, by more than `DRIFT_RATIO`.

    Args:
        kept: What was measured, by the same kind of messages.
        now: The same hosts, measured again; `nan` where not.

    Returns:
        Symmetric, shape (H, H).
    """
    kept, now = with_pooled_noise(kept), with_pooled_noise(now)
    with np.errstate(invalid="ignore", divide="ignore"):
        change: Matrix = np.abs(np.log(now.bandwidth_Bps / kept.bandwidth_Bps))
    variance = np.zeros_like(change)
    for network in (kept, now):
        spread = log_spread(network.bandwidth_low_Bps, network.bandwidth_high_Bps)
        if spread is not None:
            variance = variance + spread**2
    least = np.maximum(np.log1p(DRIFT_RATIO), CERTAIN_SIGMAS * np.sqrt(variance))
    is_drifted = np.isfinite(change) & (change > least)
    np.fill_diagonal(is_drifted, False)
    return np.asarray(is_drifted | is_drifted.T)


def pairs_to_measure_again(drifted: Mask) -> Mask:
    """All pairs of the hosts that have drifted: what slowed one may have slowed the others."""
    hosts: Mask = np.any(drifted, axis=0)
    again = hosts[:, None] | hosts[None, :]
    np.fill_diagonal(again, False)
    return np.asarray(again)
