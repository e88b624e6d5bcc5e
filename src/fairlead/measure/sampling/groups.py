# SPDX-License-Identifier: Apache-2.0
"""Estimates a pair from the groups of its hosts: coarse groups first, finer ones correct them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

TO_DEVIATION = 1.4826
"""Median absolute deviation of a normal distribution to its standard deviation."""


@dataclasses.dataclass(frozen=True)
class GroupsModel:
    """log value = table[0][groups] + table[1][finer groups] + ... (+ effect of src and of dst).

    Attributes:
        levels: Group of each host, shape (H,), coarse to fine.
        tables: What each level adds, shape (groups, groups), [src, dst].
        out_effects, in_effects: What each host adds as sender and as receiver after level l,
            shape (levels, H).
    """

    levels: Sequence[Labels]
    tables: Sequence[Matrix]
    out_effects: Matrix
    in_effects: Matrix

    def predict(self, src: Labels, dst: Labels) -> Matrix:
        """Estimates after each level, first without and then with the effects of hosts.

        Returns:
            Logarithms, shape (2 * levels, len(src)).
        """
        plain = np.cumsum(
            [
                table[labels[src], labels[dst]]
                for labels, table in zip(self.levels, self.tables, strict=True)
            ],
            axis=0,
        )
        return np.concatenate([plain, plain + self.out_effects[:, src] + self.in_effects[:, dst]])


def fit_groups(src: Labels, dst: Labels, values: Vector, levels: Sequence[Labels]) -> GroupsModel:
    """Fit the model to measured pairs.

    A block of a level adds the median of the residuals of the coarser levels, shrunk towards 0 by
    as much as blocks of so few pairs scatter. Blocks of a group with itself have a scatter of their
    own: hosts of one rack are nearer than any two racks.

    Args:
        src: Senders of the measured pairs.
        dst: Their receivers.
        values: Their logarithms.
        levels: Group of each host, coarse to fine; the first has one group.

    Source: James and Stein 1961, in the empirical form of Efron and Morris 1975.
    """
    residual = values
    tables, outs, ins = [], [], []
    num_hosts = len(levels[0])
    for labels in levels:
        num_groups = int(labels.max()) + 1
        block = labels[src] * num_groups + labels[dst]
        is_inner = np.eye(num_groups, dtype=bool).ravel()
        added = _shrunk_medians(block, residual, num_groups**2, is_inner)
        tables.append(added.reshape(num_groups, num_groups))
        residual = residual - added[block]
        alike = np.zeros(num_hosts, dtype=bool)
        out = _shrunk_medians(src, residual, num_hosts, alike)
        outs.append(out)
        ins.append(_shrunk_medians(dst, residual - out[src], num_hosts, alike))
    return GroupsModel(levels, tables, np.array(outs), np.array(ins))


def _shrunk_medians(
    block: Labels, residual: Vector, num_blocks: int, kind: npt.NDArray[np.bool_]
) -> Vector:
    """Median of each block, times the part of its square that is not noise; 0 where empty."""
    medians, counts = block_medians(block, residual, num_blocks)
    if num_blocks == 1:
        return medians
    noise = TO_DEVIATION * float(np.median(np.abs(residual - medians[block])))
    shrunk = np.zeros(num_blocks)
    for part in (kind, ~kind):
        used = part & (counts > 0)
        if not used.any():
            continue
        weight, square = counts[used], medians[used] ** 2
        excess = float((weight * square).sum()) - np.count_nonzero(used) * noise**2
        if excess <= 0:
            continue
        signal = excess / weight.sum()
        shrunk[used] = medians[used] * (weight / (weight + noise**2 / signal))
    return shrunk


def block_medians(
    block: Labels, residual: Vector, num_blocks: int
) -> tuple[Vector, npt.NDArray[np.int64]]:
    """Median and number of the residuals in each block; 0 where there is none."""
    counts = np.bincount(block, minlength=num_blocks)
    ordered = residual[np.lexsort((residual, block))]
    begin = np.cumsum(counts) - counts
    used = counts > 0
    low = begin[used] + (counts[used] - 1) // 2
    high = begin[used] + counts[used] // 2
    medians = np.zeros(num_blocks)
    medians[used] = (ordered[low] + ordered[high]) / 2
    return medians, counts
