# SPDX-License-Identifier: Apache-2.0
"""Estimates the unmeasured pairs by the best of several methods, each with an error bar."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairlead.measure.sampling.groups import fit_groups
from fairlead.measure.sampling.partition import Layer, group_levels

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Pairs = tuple[Labels, Labels]

COVERAGE_RATIO = 0.95
"""Share of the true values that the error bars should contain."""
NUM_FOLDS = 5
MAX_GROUPS = 128
# With this many pairs, a block's own scatter has the same weight as that of the coarser block.
_PRIOR_PAIRS = 8.0


@dataclasses.dataclass(frozen=True, eq=False)
class Estimate:
    """One quantity of all pairs.

    Attributes:
        values: Natural logarithms of the estimates, shape (H, H), [src, dst].
        scatter: Typical error of each, as a difference of logarithms, shape (H, H).
        bar: Half the length of each error bar, as a difference of logarithms, shape (H, H).
        method: The way that was best on held-out pairs.
    """

    values: Matrix
    scatter: Matrix
    bar: Matrix
    method: str


@dataclasses.dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity with unmeasured pairs.

    Attributes:
        values: Natural logarithms, shape (H, H), [src, dst], `nan` where unmeasured.
        is_low_near: Whether small values mean that hosts are near each other.
    """

    values: Matrix
    is_low_near: bool


def group_sizes(num_hosts: int) -> list[int]:
    """Numbers of groups to try: 1, 2, 4, 8, ... up to half the hosts."""
    most = max(1, min(MAX_GROUPS, num_hosts // 2))
    return [1 << power for power in range(most.bit_length())]


def estimate(quantities: Sequence[Quantity], seed: int = 0) -> list[Estimate]:
    """Estimate all pairs of each quantity from the measured ones.

    Every method is judged on pairs that were held out from it. The errors of the best method on
    these pairs also give the error bars: each pair's bar is the typical error of its block of
    groups, times the factor by which the bars of the held-out pairs contain the required share of
    the values.

    Args:
        quantities: At least one pair of each is measured.
        seed: Seed of the draw of what is held out.

    Source: Lei, G'Sell, Rinaldo, Tibshirani and Wasserman 2018 (split conformal intervals, locally
    weighted).
    """
    folds = _folds(quantities, seed)
    held_out = [_held_out_errors(quantities, folds, fold) for fold in range(NUM_FOLDS)]
    partitions = _partitions(quantities, np.ones_like(folds, dtype=bool))
    estimates = []
    for index, quantity in enumerate(quantities):
        src, dst = np.nonzero(np.isfinite(quantity.values))
        fold_of_entry = folds[src, dst]
        errors = np.empty((len(held_out[0][index]), len(src)))
        for fold in range(NUM_FOLDS):
            errors[:, fold_of_entry == fold] = held_out[fold][index]
        estimates.append(_best(quantity, src, dst, errors, partitions))
    return estimates


def _folds(quantities: Sequence[Quantity], seed: int) -> npt.NDArray[np.int64]:
    """Fold of each measured pair; both directions are in one fold, since they are correlated."""
    known = np.any([np.isfinite(quantity.values) for quantity in quantities], axis=0)
    low, high = np.nonzero(np.triu(known | known.T, 1))
    folds = np.zeros(known.shape, dtype=np.int64)
    drawn = np.random.default_rng(seed).permutation(len(low)) % NUM_FOLDS
    folds[low, high] = folds[high, low] = drawn
    return folds


def _weights(quantity: Quantity) -> Matrix:
    """Weight of each measured pair in the held-out error.

    Pairs of hosts that are measured with all others have little weight, since no pair that must be
    estimated is like them.
    """
    degree = np.maximum(np.isfinite(quantity.values).sum(axis=1), 1)
    return np.asarray(1.0 / np.maximum.outer(degree, degree))


def _partitions(
    quantities: Sequence[Quantity], is_used: npt.NDArray[np.bool_]
) -> dict[str, list[Labels]]:
    """Groups of hosts with similar measurements, before and after removing each host's level."""
    sizes = group_sizes(len(is_used))
    partitions = {}
    for name, is_relative in (("groups", False), ("relative groups", True)):
        layers = [
            Layer(np.where(is_used, quantity.values, np.nan), quantity.is_low_near, is_relative)
            for quantity in quantities
        ]
        partitions[name] = group_levels(layers, sizes)
    return partitions


def _held_out_errors(quantities: Sequence[Quantity], folds: Labels, fold: int) -> list[Matrix]:
    """Error of each way on the pairs of one fold, for each quantity, shape (ways, pairs)."""
    partitions = _partitions(quantities, folds != fold)
    found = []
    for quantity in quantities:
        known = np.isfinite(quantity.values)
        used_src, used_dst = np.nonzero(known & (folds != fold))
        src, dst = np.nonzero(known & (folds == fold))
        ways = _predictions(quantity, (used_src, used_dst), (src, dst), partitions)
        found.append(quantity.values[src, dst] - np.array([predicted for _, predicted in ways]))
    return found


def _predictions(
    quantity: Quantity, used: Pairs, asked: Pairs, partitions: Mapping[str, Sequence[Labels]]
) -> list[tuple[str, Vector]]:
    """The prediction of each method for these pairs, with its name."""
    values = quantity.values[used]
    ways: list[tuple[str, Vector]] = []
    for name, levels in partitions.items():
        predicted = fit_groups(*used, values, levels).predict(*asked)
        titles = [f"{labels.max() + 1} {name}" if labels.any() else "median" for labels in levels]
        titles += [f"{title} and effects of hosts" for title in titles]
        ways += zip(titles, predicted, strict=True)
    return ways


def _best(
    quantity: Quantity,
    src: Labels,
    dst: Labels,
    errors: Matrix,
    partitions: Mapping[str, Sequence[Labels]],
) -> Estimate:
    weights = _weights(quantity)[src, dst]
    means = (np.abs(errors) * weights).sum(axis=1) / weights.sum()
    best = int(means.argmin())
    num_hosts = len(quantity.values)
    everything = np.divmod(np.arange(num_hosts**2), num_hosts)
    ways = _predictions(quantity, (src, dst), everything, partitions)
    levels = _levels_of(best, partitions)
    missed = np.abs(errors[best])
    scatter, left_out = _scatter(src, dst, missed, levels)
    factor = _quantile(missed / left_out, weights)
    method, predicted = ways[best]
    return Estimate(predicted.reshape(num_hosts, num_hosts), scatter, factor * scatter, method)


def _levels_of(way: int, partitions: Mapping[str, Sequence[Labels]]) -> Sequence[Labels]:
    """Groups that the way uses, coarse to fine; ways are in the order of `_predictions`."""
    levels = list(partitions.values())
    source, step = divmod(way, 2 * len(levels[0]))
    return levels[source][: step % len(levels[0]) + 1]


def _scatter(
    src: Labels, dst: Labels, missed: Vector, levels: Sequence[Labels]
) -> tuple[Matrix, Vector]:
    """Mean error of each pair's block, shrunk towards that of the coarser block.

    Returns:
        For all pairs, shape (H, H); for each measured pair without its own error, shape
        (len(src),).
    """
    floor = 1e-9
    mean = float(missed.mean()) + floor
    num_hosts = len(levels[0])
    scatter = np.full((num_hosts, num_hosts), mean)
    left_out = np.full(len(src), mean)
    for labels in levels:
        num_groups = int(labels.max()) + 1
        block = labels[src] * num_groups + labels[dst]
        sums = np.bincount(block, missed, num_groups**2)
        counts = np.bincount(block, minlength=num_groups**2)
        coarser = scatter[src, dst]
        left_out = (sums[block] - missed + _PRIOR_PAIRS * coarser) / (
            counts[block] - 1 + _PRIOR_PAIRS
        )
        grid = (labels[:, None] * num_groups + labels[None, :]).ravel()
        scatter = (sums[grid].reshape(scatter.shape) + _PRIOR_PAIRS * scatter) / (
            counts[grid].reshape(scatter.shape) + _PRIOR_PAIRS
        )
    return scatter, left_out + floor


def _quantile(values: Vector, weights: Vector) -> float:
    """Weighted quantile at the wanted coverage, with the correction for few values."""
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    effective = weights.sum() ** 2 / (weights**2).sum()
    wanted = min(1.0, COVERAGE_RATIO * (1 + 1 / effective))
    return float(values[order[min(np.searchsorted(share, wanted - 1e-12), len(values) - 1)]])
