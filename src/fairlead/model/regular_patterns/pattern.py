# SPDX-License-Identifier: Apache-2.0
"""What every regular pattern is: classes of pairs of ranks, which all send alike."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Pairs", "RegularPattern", "matrix_of", "values_of"]


class Pairs(NamedTuple):
    """All pairs of ranks that send, for one number of ranks.

    Attributes:
        src: Sending rank of each pair, shape (P,).
        dst: Receiving rank, shape (P,).
        kind: Its class, in 0..K-1.
        scale: By what each class's bytes are multiplied where the same whole problem is divided
            among these ranks, shape (K,).
    """

    src: npt.NDArray[np.int64]
    dst: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]
    scale: npt.NDArray[np.float64]


class RegularPattern(Protocol):
    """A hypothesis on which pairs of ranks send alike, fitted to a matrix."""

    @property
    def name(self) -> str:
        """What it is, for a user: "a ring"."""
        ...

    @property
    def num_classes(self) -> int:
        """Number of classes of pairs, K."""
        ...

    def pairs(self, num_ranks: int) -> Pairs | None:
        """All pairs of the pattern between so many ranks; None where it is not defined for them."""
        ...


def values_of(pairs: Pairs, num_classes: int, matrix: sp.csr_array) -> npt.NDArray[np.float64]:
    """The median value of each class in a recorded matrix, shape (K,)."""
    found = np.asarray(matrix[pairs.src, pairs.dst], dtype=np.float64).reshape(-1)
    return np.array([np.median(found[pairs.kind == kind]) for kind in range(num_classes)])


def matrix_of(pairs: Pairs, values: npt.NDArray[np.float64], num_ranks: int) -> sp.csr_array:
    """The matrix in which each pair has the value of its class; what comes twice adds up."""
    cells = (values[pairs.kind], (pairs.src, pairs.dst))
    return sp.csr_array(sp.coo_array(cells, shape=(num_ranks, num_ranks)))
