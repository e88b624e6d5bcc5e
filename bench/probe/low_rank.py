# SPDX-License-Identifier: Apache-2.0
"""Estimates pairs by a matrix of low rank, fitted to the measured ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

NUM_SWEEPS = 12
PENALTY_RATIO = 0.1
"""Weight of the factors' squares, relative to the variance of what they fit; per measured pair."""


def fit_low_rank(
    src: Labels, dst: Labels, values: Vector, num_hosts: int, rank: int
) -> tuple[Vector, Matrix, Matrix]:
    """Mean and factors: log value = mean + left[src] . right[dst].

    Args:
        src: Senders of the measured pairs.
        dst: Their receivers.
        values: Their logarithms.
        num_hosts: H.
        rank: Columns of the factors, >= 1.

    Returns:
        Mean, shape (1,), and the two factors, shape (H, rank).

    Source: Zhou, Wilkinson, Schreiber and Pan 2008 (alternating least squares with weighted
    regularisation).
    """
    mean = np.median(values, keepdims=True)
    left_over = values - mean
    penalty = PENALTY_RATIO * float(np.std(left_over))
    # The first factor starts as the mean of each host, the others as small random values.
    right = np.random.default_rng(rank).normal(0.0, 0.1, (num_hosts, rank))
    right[:, 0] = 1.0
    left = np.zeros_like(right)
    for _ in range(NUM_SWEEPS):
        left = _solved(src, dst, left_over, right, penalty)
        right = _solved(dst, src, left_over, left, penalty)
    return mean, left, right


def predict_low_rank(model: tuple[Vector, Matrix, Matrix], src: Labels, dst: Labels) -> Vector:
    """Logarithms of the estimates, shape (len(src),)."""
    mean, left, right = model
    return np.asarray(mean[0] + np.einsum("er,er->e", left[src], right[dst]))


def _solved(row: Labels, column: Labels, values: Vector, fixed: Matrix, penalty: float) -> Matrix:
    """Best factor of each row: a ridge regression of its values on the columns' factors."""
    num_hosts, rank = fixed.shape
    seen = fixed[column]
    products = np.empty((num_hosts, rank, rank))
    target = np.empty((num_hosts, rank))
    for a in range(rank):
        target[:, a] = np.bincount(row, seen[:, a] * values, minlength=num_hosts)
        for b in range(a, rank):
            products[:, a, b] = np.bincount(row, seen[:, a] * seen[:, b], minlength=num_hosts)
            products[:, b, a] = products[:, a, b]
    counts = np.maximum(np.bincount(row, minlength=num_hosts), 1)
    products += (penalty * counts + 1e-9)[:, None, None] * np.eye(rank)
    return np.asarray(np.linalg.solve(products, target[:, :, None])[:, :, 0])
