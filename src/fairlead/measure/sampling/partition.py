# SPDX-License-Identifier: Apache-2.0
"""Finds groups of hosts with similar measurements from the pairs measured so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.cluster.hierarchy
import scipy.spatial.distance

from fairlead.measure.sampling.groups import block_medians

Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
Side = tuple[Labels, Labels, Matrix]

MAX_COLUMNS = 256
"""Most partners for comparing hosts: those that are measured with most others."""
NUM_SWEEPS = 4
"""Rounds in which every host may change its group; in simulations later ones moved no host."""


class Layer:
    """One quantity of the measured pairs, standardised for the grouping.

    Args:
        values: Logarithms, shape (H, H), [src, dst], `nan` where unmeasured or held out.
        is_low_near: Whether small values mean that hosts are near each other.
        is_relative: First remove each host's own level as sender and as receiver, so that a slow
            host can be grouped with its neighbours.

    Attributes:
        num_hosts: H.
        directions: Host, partner and score of each measured pair, from the sender's side and, where
            the quantity is not symmetric, from the receiver's.
        is_low_near: As given.
    """

    def __init__(self, values: Matrix, is_low_near: bool, is_relative: bool = False):
        src, dst = np.nonzero(np.isfinite(values))
        flat = values[src, dst]
        is_symmetric = np.array_equal(flat, values[dst, src])
        self.num_hosts = len(values)
        flat = _without_levels(src, dst, flat, self.num_hosts) if is_relative else flat
        middle, low, high = np.quantile(flat, [0.5, 0.01, 0.99])
        # Without its tails, so that one very slow pair does not outweigh all others.
        clipped = np.clip(flat, low, high) - middle
        scores = clipped / (float(np.std(clipped)) or 1.0)
        self.directions = [(src, dst, scores)]
        if not is_symmetric:
            self.directions.append((dst, src, scores))
        self.is_low_near = is_low_near


def _without_levels(src: Labels, dst: Labels, values: Matrix, num_hosts: int) -> Matrix:
    """The residuals of two rounds of median polish. Source: Tukey 1977."""
    for _ in range(2):
        for host in (dst, src):
            values = values - block_medians(host, values, num_hosts)[0][host]
    return values


def group_levels(layers: Sequence[Layer], sizes: Sequence[int]) -> list[Labels]:
    """Partitions of the hosts into more and more groups.

    Hosts are alike where their measurements with the same partners are. They are joined by Ward's
    method; then each host moves to the group whose means explain all its measurements best, which
    also uses pairs that were measured with one of the two only (a stochastic block model, fitted by
    iterated conditional modes).

    Args:
        layers: The quantities, all of H hosts.
        sizes: Wanted numbers of groups, ascending, each >= 1.

    Returns:
        The group of each host, shape (H,), for each size; numbers of groups may be smaller.

    Source: Ward 1963; Holland, Laskey and Leinhardt 1983 (block model); Besag 1986 (iterated
    modes).
    """
    num_hosts = layers[0].num_hosts
    if num_hosts < 2:
        return [np.zeros(num_hosts, dtype=np.int64) for _ in sizes]
    distances = np.sqrt(_square_distances(layers))
    tree = scipy.cluster.hierarchy.linkage(
        scipy.spatial.distance.squareform(distances, checks=False), method="ward"
    )
    return [
        _move_hosts(
            layers,
            scipy.cluster.hierarchy.fcluster(tree, size, criterion="maxclust").astype(np.int64) - 1,
        )
        for size in sizes
    ]


def _square_distances(layers: Sequence[Layer]) -> Matrix:
    """Mean squared difference of any two hosts over the partners that both were measured with."""
    num_hosts = layers[0].num_hosts
    degree = sum(
        np.bincount(side[1], minlength=num_hosts) for layer in layers for side in layer.directions
    )
    columns = np.argsort(-np.asarray(degree), kind="stable")[:MAX_COLUMNS]
    total = np.zeros((num_hosts, num_hosts))
    count = np.zeros((num_hosts, num_hosts))
    for layer in layers:
        for side in layer.directions:
            seen, is_seen = _columns(side, columns, num_hosts, layer.is_low_near)
            squares = (seen**2) @ is_seen.T
            total += squares + squares.T - 2 * seen @ seen.T
            count += is_seen @ is_seen.T
    distances = np.divide(total, count, where=count > 0, out=np.full_like(total, np.nan))
    # Two hosts without a common partner get the largest distance.
    distances = np.nan_to_num(distances, nan=float(np.nanmax(distances, initial=1.0)))
    distances = np.maximum((distances + distances.T) / 2, 0.0)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances)


def _columns(
    side: Side, columns: Labels, num_hosts: int, is_low_near: bool
) -> tuple[Matrix, Matrix]:
    """Scores of all hosts with the chosen partners, 0 where unknown, and where they are known.

    Each partner counts as near to itself as its nearest host is.
    """
    host, partner, scores = side
    place = np.full(num_hosts, -1)
    place[columns] = np.arange(len(columns))
    is_chosen = place[partner] >= 0
    seen = np.zeros((num_hosts, len(columns)))
    is_seen = np.zeros_like(seen)
    cells = (host[is_chosen], place[partner[is_chosen]])
    seen[cells] = scores[is_chosen]
    is_seen[cells] = 1.0
    sign = 1.0 if is_low_near else -1.0
    nearest = np.where(is_seen > 0, sign * seen, np.inf).min(axis=0)
    has_any = np.isfinite(nearest)
    own = (columns[has_any], np.flatnonzero(has_any))
    seen[own] = sign * nearest[has_any]
    is_seen[own] = 1.0
    return seen, is_seen


def _move_hosts(layers: Sequence[Layer], labels: Labels) -> Labels:
    """The partition after its hosts have moved to the groups that explain them best."""
    for _ in range(NUM_SWEEPS):
        moved = _squared_errors(layers, labels).argmin(axis=1)
        # Remove the numbers of empty groups.
        moved = np.unique(moved, return_inverse=True)[1].astype(np.int64)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels


def _squared_errors(layers: Sequence[Layer], labels: Labels) -> Matrix:
    """Squared error, in units of the noise, of each host in each group, up to a constant."""
    num_hosts, num_groups = len(labels), int(labels.max()) + 1
    cost = np.zeros((num_hosts, num_groups))
    for layer in layers:
        for host, partner, scores in layer.directions:
            cell = host * num_groups + labels[partner]
            sums, counts = (
                np.bincount(cell, weights, num_hosts * num_groups).reshape(cost.shape)
                for weights in (scores, None)
            )
            block = labels[host] * num_groups + labels[partner]
            block_sums, block_counts = (
                np.bincount(block, weights, num_groups**2).reshape(num_groups, num_groups)
                for weights in (scores, None)
            )
            means = block_sums / np.maximum(block_counts, 1)
            squares = float((scores**2).sum() - (block_counts * means**2).sum())
            noise = max(squares / max(len(scores), 1), 1e-6)
            cost += (counts @ (means**2).T - 2 * sums @ means.T) / noise
    return np.asarray(cost)
