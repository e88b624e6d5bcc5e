# SPDX-License-Identifier: Apache-2.0
"""All-to-all: each rank sends each other one as much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from fairlead.model.regular_patterns.pattern import Pairs, RegularPattern

__all__ = ["Complete", "complete_patterns"]


class Complete:
    """Every ordered pair of different ranks."""

    name = "all-to-all"
    num_classes = 1

    def __init__(self, recorded_ranks: int) -> None:
        self._recorded_ranks = recorded_ranks

    def pairs(self, num_ranks: int) -> Pairs:
        """As above; the data of a whole problem are divided into (T, T) blocks."""
        src, dst = np.nonzero(~np.eye(num_ranks, dtype=bool))
        scale = np.array([(self._recorded_ranks / num_ranks) ** 2])
        return Pairs(src, dst, np.zeros(len(src), np.int64), scale)


def complete_patterns(matrix: sp.csr_array) -> Iterator[RegularPattern]:
    """The pattern, where about as many pairs send as it has."""
    num_ranks = matrix.shape[0]
    if num_ranks >= 3 and matrix.nnz >= 0.9 * num_ranks * (num_ranks - 1):
        yield Complete(num_ranks)
