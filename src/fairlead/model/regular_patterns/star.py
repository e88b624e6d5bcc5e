# SPDX-License-Identifier: Apache-2.0
"""One rank sends all others as much, or gets as much from each, or both."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from fairlead.model.regular_patterns.pattern import Pairs, RegularPattern

__all__ = ["Star", "star_patterns"]


class Star:
    """Pairs with the first or the last rank.

    Attributes:
        num_classes: From that rank, and to it.
    """

    num_classes = 2

    def __init__(self, recorded_ranks: int, *, is_last: bool) -> None:
        self._recorded_ranks, self._is_last = recorded_ranks, is_last

    @property
    def name(self) -> str:
        """For a user."""
        return f"a star around the {'last' if self._is_last else 'first'} rank"

    def pairs(self, num_ranks: int) -> Pairs | None:
        """As above; the data of a whole problem are divided among the others."""
        if num_ranks < 2:
            return None
        center = num_ranks - 1 if self._is_last else 0
        others = np.delete(np.arange(num_ranks), center)
        here = np.full(len(others), center)
        kind = np.repeat([0, 1], len(others))
        scale = np.full(2, (self._recorded_ranks - 1) / (num_ranks - 1))
        return Pairs(np.concatenate([here, others]), np.concatenate([others, here]), kind, scale)


def star_patterns(matrix: sp.csr_array) -> Iterator[RegularPattern]:
    """Both, where as few pairs send."""
    num_ranks = matrix.shape[0]
    if num_ranks >= 3 and matrix.nnz <= 2 * num_ranks:
        for is_last in (False, True):
            yield Star(num_ranks, is_last=is_last)
