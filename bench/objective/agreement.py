# SPDX-License-Identifier: Apache-2.0
"""How well a prediction ranks placements as their measured times do."""

from __future__ import annotations

import numpy as np

from fairlead.statistics import Interval, kendall_tau

DRAWS = 1000


def tau(predicted: np.ndarray, times_s: np.ndarray, seed: int) -> Interval:
    """Kendall's tau-b of prediction and mean time, with its 95 % bootstrap interval.

    Both the placements and the runs of each are drawn with replacement: other placements and other
    runs might have been taken. A placement that is drawn twice ties with itself on both sides,
    which tau-b leaves out of account.

    Args:
        predicted: One value per placement, shape (P,).
        times_s: Runs of each placement, shape (P, R).
        seed: Seed of the draws.

    Returns:
        `nan` where all predictions are equal, which ranks nothing.

    Source: Kendall 1938; Efron and Tibshirani 1993, chapter 13 (percentile interval).
    """
    rng = np.random.default_rng(seed)
    num_placements, num_runs = times_s.shape
    drawn = []
    for _draw in range(DRAWS):
        runs = rng.integers(num_runs, size=times_s.shape)
        means_s = np.take_along_axis(times_s, runs, axis=1).mean(axis=1)
        placements = rng.integers(num_placements, size=num_placements)
        drawn.append(kendall_tau(predicted[placements].tolist(), means_s[placements].tolist()).tau)
    value = kendall_tau(predicted.tolist(), times_s.mean(axis=1).tolist()).tau
    if np.isnan(value):
        return Interval(value, value, value)
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def tau_of_repeats(times_s: np.ndarray) -> float:
    """Tau between the mean times of the first and of the second half of the runs.

    No prediction can be expected to agree better with the runs than they agree with one another.
    """
    half = times_s.shape[1] // 2
    if half == 0:
        return float("nan")
    first, second = times_s[:, :half].mean(axis=1), times_s[:, -half:].mean(axis=1)
    return kendall_tau(first.tolist(), second.tolist()).tau
