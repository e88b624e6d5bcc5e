# SPDX-License-Identifier: Apache-2.0
"""Large matrices in few cells: blocks of neighbours, each shown as one value."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Matrix = npt.NDArray[np.float64]
Blocks = list[npt.NDArray[np.int64]]


def split_evenly(num_items: int, max_blocks: int) -> Blocks:
    """At most `max_blocks` blocks of neighbours, all of one length if a similar one fits."""
    least = -(-num_items // max(1, max_blocks))
    for length in range(least, min(2 * least, num_items) + 1):
        if num_items % length == 0:
            return list(np.split(np.arange(num_items), num_items // length))
    return list(np.array_split(np.arange(num_items), -(-num_items // least)))


def reduce_blocks(matrix: Matrix, blocks: Blocks, reduce: Callable[[Any], Any]) -> Matrix:
    """One value per pair of blocks.

    Args:
        matrix: Shape (n, n).
        blocks: Indices of each block, length b.
        reduce: Makes one number of a block's values, for example `np.nansum`.

    Returns:
        Shape (b, b); `nan` where `reduce` gives it.
    """
    if all(len(block) == 1 for block in blocks):
        order = np.concatenate(blocks)
        return np.asarray(matrix[np.ix_(order, order)])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        return np.array(
            [[reduce(matrix[np.ix_(row, column)]) for column in blocks] for row in blocks],
            dtype=np.float64,
        )


def sum_blocks(matrix: sp.csr_array, blocks: Blocks) -> Matrix:
    """Sums of a sparse matrix per pair of blocks; the memory is that of its entries.

    Args:
        matrix: Shape (n, n).
        blocks: Indices of each block, length b; each index in one block at most.

    Returns:
        Shape (b, b).
    """
    lengths = [len(block) for block in blocks]
    member = sp.csr_array(
        (np.ones(sum(lengths)), np.concatenate(blocks), np.cumsum([0, *lengths])),
        shape=(len(blocks), matrix.shape[0]),
    )
    return np.asarray((member @ matrix @ member.T).toarray(), dtype=np.float64)


def block_labels(names: Sequence[str], blocks: Blocks) -> list[str]:
    """A name per block: the member's, or first and last."""
    return [
        names[block[0]] if len(block) == 1 else f"{names[block[0]]}–{names[block[-1]]}"
        for block in blocks
    ]
